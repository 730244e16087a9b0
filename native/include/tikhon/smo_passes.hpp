// The passes over all active rows that a step of SMO makes, compiled for each instruction set.
//
// `f` is the residual t - K beta. Increasing beta_i has the slope f_i + up_i, decreasing it the
// slope -(f_i + down_i); up_i = -inf and down_i = +inf where a bound forbids it. All arrays are
// padded to a multiple of kRowPad by rows that cannot move.
#pragma once

#include "tikhon/matrix.hpp"

namespace tikhon {

struct Extremes {
  Index highest;  // the position of the largest f + up
  double up;      // its value
  double down;    // the smallest f + down
};

// f -= a x + b y, then the extremes of f.
template <class T>
Extremes move_pair(double a, const T* x, double b, const T* y, const double* up, const double* down,
                   double* f, Index width);

// The partner with the largest gain (highest - (f_j + down_j))^2 / (d + d_j - 2 x_j), or -1.
template <class T>
Index best_partner(double highest, double d, const T* x, const double* f, const double* down,
                   const float* diagonal, Index width);

}  // namespace tikhon
