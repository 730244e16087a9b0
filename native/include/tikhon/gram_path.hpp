// Least squares with a coordinate penalty along a path of strengths, from second moments alone:
//
//     min_w  w'Kw / 2 - c'w + lam sum_j [ l1_j |w_j| + l2_j w_j^2 / 2 ],   lower <= w <= upper.
//
// An active-set Newton method. Free coordinates (not at 0, not at a bound) solve their linear
// system exactly by a Cholesky factor that is kept up to date as coordinates come and go; a step
// ends early where a coordinate would cross 0 or a bound, and that coordinate is then held there.
// Held coordinates whose slope exceeds what the penalty allows are set free, the worst first. Each
// step decreases the objective, so the method ends, and along a path it takes about one step and a
// few exchanges for each strength. Plain coordinate descent stands by for the case that rounding
// makes it turn in circles.
#pragma once

#include "tikhon/coordinate_penalty.hpp"
#include "tikhon/matrix.hpp"
#include "tikhon/stop.hpp"

namespace tikhon {

struct GramProblem {
  const double* K;  // symmetric, size x size, rows `stride` apart
  const double* c;
  Index size;
  Index stride;
};

struct GramAccuracy {
  double relative;  // slopes may exceed lam l1_j by this share of it,
  double absolute;  // or by this much
};

enum class PathStatus : int { converged = 0, stalled = 1, stopped = 2 };

// Solve at each of `count` strengths, each from the one before, the first from `w`; write the
// solutions to the rows of `out` (count x size). Returns how many strengths were solved; when
// `stop` ends the work early, the other rows of `out` hold the last iterate. `status` says how each
// ended.
Index gram_path(const GramProblem& problem, const CoordinatePenalty& penalty, const double* lams,
                Index count, GramAccuracy accuracy, double* w, double* out, int* status,
                const Stop& stop);

}  // namespace tikhon
