// Block coordinate descent for groups of coefficients on second moments, several targets at once:
//
//     min_W  tr(W'KW) / 2 - tr(C'W) + lam [ sum_j l1_j ||W_j||_1 + sum_g weight_g ||W_g|| ].
//
// A group's problem is solved to its own minimum by proximal steps on its block of K alone; what it
// moved is then taken off the correlations of all columns.
#pragma once

#include "tikhon/matrix.hpp"
#include "tikhon/stop.hpp"

namespace tikhon {

struct GroupBlocks {
  const Index* members;     // columns, group after group
  const Index* starts;      // count + 1 places in `members`
  const double* weight;     // of each group
  const double* curvature;  // of each group: at least the largest eigenvalue of its block of K
  const double* l1;         // of each column
};

// `W` and `G` = C - K W are targets x size, rows contiguous, and change in place. Sweeps over the
// groups in `chosen`; returns how far the last sweep moved, the largest over groups of
// curvature * ||change||.
double group_descent(const double* K, Index size, Index stride, Index targets,
                     const GroupBlocks& blocks, const Index* chosen, Index count, double lam,
                     int sweeps, double* W, double* G, const Stop& stop);

}  // namespace tikhon
