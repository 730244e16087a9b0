// The duality gap of a support vector problem with box constraints, term by term.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tikhon/matrix.hpp"

namespace tikhon {

// One row's share of the gap at residual r = t - f - b; never negative.
inline double gap_term(double r, double beta, double lower, double upper, double tube) {
  const double loss = r > tube ? upper * (r - tube) : (-r > tube ? -lower * (-r - tube) : 0.0);
  return std::max(0.0, loss - beta * r + tube * std::abs(beta));
}

// The offset that minimises sum_i loss_i(f_i - b): where the slope of that convex, piecewise linear
// function changes sign; the middle of the interval, if it is one.
inline double best_offset(const std::vector<double>& f, const std::vector<double>& lower,
                          const std::vector<double>& upper, double tube) {
  std::vector<std::pair<double, double>> kinks;
  kinks.reserve(2 * f.size());
  double slope = 0.0;  // at b = -inf every residual is above the tube
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (upper[i] > 0.0) {
      kinks.emplace_back(f[i] - tube, upper[i]);
      slope -= upper[i];
    }
    if (lower[i] < 0.0) {
      kinks.emplace_back(f[i] + tube, -lower[i]);
    }
  }
  if (kinks.empty()) {
    return 0.0;
  }
  std::sort(kinks.begin(), kinks.end());
  const double rounding = 1e-13 * -slope;
  double left = kinks.front().first;
  bool flat = false;
  for (const auto& [place, weight] : kinks) {
    if (flat) {
      return left / 2 + place / 2;
    }
    slope += weight;
    left = place;
    if (slope > rounding) {
      return place;
    }
    flat = slope >= -rounding;
  }
  return left;
}

}  // namespace tikhon
