// One pass over a dense matrix for what must be known of every column before anything is fitted.
#pragma once

#include "tikhon/matrix.hpp"

namespace tikhon {

// One entry for each column, in memory of the caller.
struct ColumnStatistics {
  double* sums;
  double* minimum;
  double* maximum;
  Index* nonfinite;
};

// For every column j
//
//     sums[j]      = sum_i x_ij         in double, whatever T: at most 512 terms one after the
//                                       other, then their sums, then the sums of those
//     minimum[j]   = min_i x_ij         over entries that are not NaN; +inf when there are none
//     maximum[j]   = max_i x_ij         likewise; -inf when there are none
//     nonfinite[j] = number of NaN and infinite entries
//
// The sum of a column with non-finite entries is not finite; that of finite entries may overflow.
template <class T>
void scan(Matrix<T> X, ColumnStatistics out, int threads);

extern template void scan(Matrix<float>, ColumnStatistics, int);
extern template void scan(Matrix<double>, ColumnStatistics, int);

}  // namespace tikhon
