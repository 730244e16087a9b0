// Plain cyclic coordinate descent on least squares with a coordinate penalty, as in a textbook:
//
//     min_w  sum_i p_i (y_i - x~_i . w)^2 / 2 + lam sum_j [ l1_j |w_j| + l2_j w_j^2 / 2 ],
//     lower <= w <= upper,      x~_ij = x_ij - mean_j.
//
// Every column in turn goes to the minimum of its own problem, no column is left out.
#pragma once

#include "tikhon/columns.hpp"
#include "tikhon/coordinate_penalty.hpp"
#include "tikhon/matrix.hpp"

namespace tikhon {

// The weighted residual is q + k p: q is stored, and k carries what the means of sparse columns,
// which are never subtracted from the entries, would add to it.
struct WeightedResidual {
  double* q;  // n
  double k;
};

struct SweepColumns {
  const double* p;          // row weights summing to 1
  const double* mean;       // of the columns as `dot` sees them; 0 without an intercept
  const double* curvature;  // sum_i p_i x~_ij^2
};

// Move columns first to last - 1, in order; `w` and `residual` follow. Columns without curvature,
// and without a penalty that keeps them finite, stay where they are.
template <class Columns>
void cyclic_sweep(const Columns& X, const SweepColumns& columns, const CoordinatePenalty& penalty,
                  double lam, Index first, Index last, double* w, WeightedResidual* residual) {
  for (Index j = first; j < last; ++j) {
    const Coordinate coordinate = Coordinate::of(penalty, j, lam);
    const double curvature = columns.curvature[j];
    if (!(curvature + coordinate.q > 0.0)) {
      continue;
    }
    const double correlation = X.dot(j, residual->q) + residual->k * columns.mean[j];
    const double moved = coordinate.minimiser(correlation + curvature * w[j], curvature) - w[j];
    if (moved != 0.0) {
      X.subtract(j, moved, columns.p, residual->q);
      residual->k += moved * columns.mean[j];
      w[j] += moved;
    }
  }
}

}  // namespace tikhon
