// Derivatives of losses in the prediction, one row at a time: `loss(y, z)` with respect to z. At a
// kink, the subgradient that `tikhon.losses` returns.
#pragma once

#include <algorithm>
#include <cmath>

namespace tikhon {

struct SquaredSlope {
  double operator()(double y, double z) const { return z - y; }
};

struct LogisticSlope {
  double operator()(double y, double z) const { return -y / (1.0 + std::exp(y * z)); }
};

struct HingeSlope {
  double operator()(double y, double z) const { return y * z < 1.0 ? -y : 0.0; }
};

struct SquaredHingeSlope {
  double operator()(double y, double z) const { return -y * std::max(0.0, 1.0 - y * z); }
};

struct HuberSlope {
  double delta;
  double operator()(double y, double z) const { return std::min(std::max(z - y, -delta), delta); }
};

struct QuantileSlope {
  double q;
  double operator()(double y, double z) const { return z < y ? -q : (z > y ? 1.0 - q : 0.0); }
};

struct EpsilonInsensitiveSlope {
  double eps;
  double operator()(double y, double z) const {
    const double residual = z - y;
    return residual > eps ? 1.0 : (residual < -eps ? -1.0 : 0.0);
  }
};

struct PoissonSlope {
  double operator()(double y, double z) const { return std::exp(z) - y; }
};

struct GammaSlope {
  double operator()(double y, double z) const { return 1.0 - y * std::exp(-z); }
};

}  // namespace tikhon
