// Sequential minimal optimization along a path of strengths C:
//
//     max_beta  t' beta - tube ||beta||_1 - beta' K beta / 2,
//     C lower <= beta <= C upper,     sum beta = 0 (where there is a free offset).
//
// With t = y in {-1, +1}, tube = 0 and beta = y alpha this is the dual of the support vector
// machine; with t = y and a tube, that of support vector regression. The pair of coefficients is
// chosen by the largest gain of the quadratic model (second order); rows at a bound that cannot
// move are left out until the end (shrinking). The end is a duality gap: with r = t - K beta - b,
//
//     P - D = sum_i [ C upper_i (r_i - tube)_+ - C lower_i (-r_i - tube)_+ - beta_i r_i
//                     + tube |beta_i| ],        each term >= 0,
//
// over all rows, with b its best value. Residuals are then recomputed; in double precision from the
// data where this is asked for, so that rows kept in single precision limit no accuracy: they only
// serve the steps, whose errors the next recomputation removes.
#pragma once

#include <vector>

#include "tikhon/kernel_table.hpp"
#include "tikhon/matrix.hpp"
#include "tikhon/row_cache.hpp"
#include "tikhon/stop.hpp"

namespace tikhon {

struct SmoProblem {
  const double* target;
  const double* lower;  // <= 0
  const double* upper;  // >= 0
  double tube;
  bool constrained;
};

struct SmoOptions {
  double gap;         // to reach, for C = 1; in proportion for other strengths
  Index steps;        // at most this many for one strength
  Index cache_bytes;  // for rows that are not shared
  int threads;        // for recomputing residuals
  bool exact;         // residuals from the data, in double precision
};

enum class SmoStatus : int { converged = 0, stalled = 1, stopped = 2, out_of_steps = 3 };

struct SmoSolution {
  double offset;
  double gap;
  Index steps;
  SmoStatus status;
};

// Solve for each strength, in order, each from the one before. `beta` (count x n) and `residual`
// (count x n), which is t - K beta, are written strength by strength; `start` (n), or null, is
// where the first begins. `shared`, or null, holds rows for several solvers. Returns how many were
// begun.
template <class T>
Index smo_path(const KernelTable& table, SharedRows<T>* shared, const SmoProblem& problem,
               const double* strengths, Index count, const SmoOptions& options, const double* start,
               double* beta, double* residual, SmoSolution* solutions, const Stop& stop);

}  // namespace tikhon
