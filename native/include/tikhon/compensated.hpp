// The two products of iterative refinement, in double-double (see double_double.hpp).
//
// The matrix is X - 1 c' with a shift c of the columns, never formed: each x - c is the exact pair
// (rounded difference, rounding error). Columns whose mean is 1e6 times their spread thus lose
// nothing. Errors are bounded by a few (n or d) 2^-106 times the sum of absolute values of terms.
//
// Results are bitwise the same for any number of threads, any strides, and for float and double
// matrices of equal values.
#pragma once

#include "tikhon/double_double.hpp"
#include "tikhon/matrix.hpp"

namespace tikhon {

// A vector of pairs in two arrays.
struct PairVector {
  double* hi;
  double* lo;
};

struct ConstPairVector {
  const double* hi;
  const double* lo;
};

// r = y - (X - 1 c') w - b, one pair for each row; `c` may be null (no shift).
template <class T>
void residual_dd(Matrix<T> X, const double* c, const double* y, ConstPairVector w, Pair b,
                 PairVector r, int threads);

// g += (X - 1 c')' diag(s) r, one pair for each column; `c` and `s` may be null (s = 1).
// Returns the sum of s_i r_i.
template <class T>
Pair correlate_dd(Matrix<T> X, const double* c, const double* s, ConstPairVector r, PairVector g,
                  int threads);

extern template void residual_dd(Matrix<float>, const double*, const double*, ConstPairVector, Pair,
                                 PairVector, int);
extern template void residual_dd(Matrix<double>, const double*, const double*, ConstPairVector,
                                 Pair, PairVector, int);
extern template Pair correlate_dd(Matrix<float>, const double*, const double*, ConstPairVector,
                                  PairVector, int);
extern template Pair correlate_dd(Matrix<double>, const double*, const double*, ConstPairVector,
                                  PairVector, int);

}  // namespace tikhon
