// Linear support vector machines by descent on one dual coefficient at a time:
//
//     max_beta  t' beta - tube ||beta||_1 - sum_i quadratic_i beta_i^2 / (2 C)
//               - || sum_i beta_i x~_i ||^2 / 2,      C lower <= beta <= C upper,
//
// with w = sum_i beta_i x~_i kept up to date, rows x~ = x - mean. quadratic = 0 is the hinge (or
// the tube), quadratic = 1 / p with upper = infinity the squared hinge.
//
// A free offset asks for sum beta = 0. It is held by an augmented Lagrangian: rows carry one more
// column sqrt(rho), and what is left of sum beta moves the multiplier, which is the offset b, after
// every sweep. The duality gap decides when to end. It is taken at a feasible point near beta: the
// heavier sign is scaled until the sum is zero.
#pragma once

#include <vector>

#include "tikhon/matrix.hpp"
#include "tikhon/rows.hpp"
#include "tikhon/stop.hpp"

namespace tikhon {

struct DualProblem {
  const double* target;
  const double* lower;
  const double* upper;
  const double* quadratic;
  const double*
      mean;  // d; of the rows as they are stored; 0 for dense rows, which shift themselves
  double tube;
  double rho;  // square of the extra column; 0 without an offset
  bool free;   // whether the offset is free, or else a column that is penalised like the others
};

struct DualOptions {
  double gap;      // to reach, for C = 1; in proportion for other strengths
  Index sweeps;    // at most this many for one strength
  Index patience;  // give up when so many sweeps do not halve the gap; another method is better
};

enum class DualStatus : int { converged = 0, stalled = 1, stopped = 2, out_of_sweeps = 3 };

struct DualSolution {
  double offset;
  double gap;
  double active_sweeps;  // sweeps over all rows that the work amounts to
  DualStatus status;
};

// Solve for each strength, in order, each from the one before. `beta` (count x n) and `w`
// (count x d) are written strength by strength; `start` (n), or null, is where the first begins.
// Returns how many were begun; it ends early after the first that stalls.
template <class Rows>
Index dual_descent(const Rows& X, const DualProblem& problem, const double* strengths, Index count,
                   const DualOptions& options, const double* start, double* beta, double* w,
                   DualSolution* solutions, const Stop& stop);

}  // namespace tikhon
