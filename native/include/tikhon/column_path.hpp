// Least squares with a coordinate penalty along a path of strengths, column by column:
//
//     min_w  sum_i p_i (y_i - x~_i . w)^2 / 2 + lam sum_j [ l1_j |w_j| + l2_j w_j^2 / 2 ],
//     lower <= w <= upper,      x~_ij = (x_ij - mean_j) / unit_j.
//
// Cyclic coordinate descent on the columns that the strong rule keeps and, among these, mostly on
// the nonzero ones; extrapolated from the last iterates (Anderson), which on a fixed support is
// worth many sweeps. A pass over all columns then finds those that were left out wrongly and the
// duality gap, which decides. Means enter as one number carried beside the residual: a sparse table
// is never filled.
#pragma once

#include <vector>

#include "tikhon/columns.hpp"
#include "tikhon/coordinate_penalty.hpp"
#include "tikhon/matrix.hpp"
#include "tikhon/stop.hpp"

namespace tikhon {

struct ColumnProblem {
  const double* p;     // row weights summing to 1; 0 for rows left out
  const double* y;     // targets about their weighted mean
  const double* mean;  // of the columns as `dot` sees them; 0 without an intercept
  const double* unit;  // weighted standard deviation, > 0
};

// Solutions in compressed rows: those of strength k are entries starts[k] to starts[k + 1].
struct SparsePath {
  std::vector<Index> starts{0};
  std::vector<Index> columns;
  std::vector<double> values;
  std::vector<int> status;
  Index solved = 0;
};

// `gap` is the duality gap to reach, relative to that of w = 0; `w` (count) is where to start.
template <class Columns>
SparsePath column_path(const Columns& X, const ColumnProblem& problem,
                       const CoordinatePenalty& penalty, const double* lams, Index count,
                       double gap, double* w, int threads, const Stop& stop);

}  // namespace tikhon
