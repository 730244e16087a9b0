// Penalties that act coordinate by coordinate: sizes, squares and bounds.
#pragma once

#include <algorithm>

#include "tikhon/matrix.hpp"

namespace tikhon {

// lam sum_j [ l1_j |w_j| + l2_j w_j^2 / 2 ]  subject to  lower_j <= w_j <= upper_j
struct CoordinatePenalty {
  const double* l1;
  const double* l2;
  const double* lower;
  const double* upper;
};

// One coordinate at one strength: a |w| + q w^2 / 2 on [lower, upper].
struct Coordinate {
  double a;
  double q;
  double lower;
  double upper;

  static Coordinate of(const CoordinatePenalty& penalty, Index j, double lam) {
    return {lam * penalty.l1[j], lam * penalty.l2[j], penalty.lower[j], penalty.upper[j]};
  }

  // The minimiser of  curvature w^2 / 2 - u w + a |w| + q w^2 / 2  within the bounds.
  double minimiser(double u, double curvature) const {
    const double shrunk = u > a ? u - a : (u < -a ? u + a : 0.0);
    return std::min(std::max(shrunk / (curvature + q), lower), upper);
  }

  // How fast the objective falls when w rises, or sinks, from where it is; `h` is minus the slope
  // of the smooth part, q included. Not positive where w is best left alone.
  double gain_up(double w, double h) const { return w < upper ? h - (w >= 0.0 ? a : -a) : 0.0; }
  double gain_down(double w, double h) const { return w > lower ? -h - (w <= 0.0 ? a : -a) : 0.0; }
};

}  // namespace tikhon
