#include "tikhon/stochastic.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "tikhon/slopes.hpp"
#include "tikhon/vector_ops.hpp"

namespace tikhon {

double BlockOfRows::dot(Index i, const double* v) const {
  return tikhon::dot(values + i * columns, v, columns);
}

void BlockOfRows::add(Index i, double a, double* v) const {
  axpy(a, values + i * columns, v, columns);
}

double BlockOfRows::squared_norm(Index i) const {
  const double* row = values + i * columns;
  return tikhon::dot(row, row, columns);
}

namespace {

// Scale of v from which w = c v and the sum a v + u would begin to lose digits.
constexpr double kSmallest = 1.0 / 64.0;

// w = c v, sum of iterates = a v + u.
template <class Rows>
class Walk {
 public:
  Walk(const Rows& X, const Batches& batches, const Iterates& at)
      : X_(X),
        batches_(batches),
        v_(at.w),
        u_(at.total),
        offset_(at.offset),
        seen_(at.slopes),
        slopes_(static_cast<std::size_t>(std::max<Index>(batches.size, 1))),
        bounded_(std::isfinite(batches.radius)) {
    square_ = bounded_ ? tikhon::dot(v_, v_, X_.columns) : 0.0;
  }

  template <class Slope>
  void run(const Slope& slope) {
    Index t = 0;
    for (Index first = 0; first < batches_.rows; first += batches_.size, ++t) {
      const Index count = std::min(batches_.size, batches_.rows - first);
      a_ += u_ != nullptr ? c_ : 0.0;
      offset_[1] += offset_[0];
      const double sum = measure(slope, first, count);
      shrink(batches_.shrink[t]);
      descend(first, count, batches_.gain[t]);
      if (batches_.intercept) {
        offset_[0] -= batches_.gain[t] * sum;
      }
      if (batches_.threshold != nullptr) {
        threshold(batches_.threshold[t]);
      }
      if (bounded_) {
        project();
      }
    }
    fold();
  }

 private:
  // Slopes of the rows of a batch, divided by their number; returns their sum.
  template <class Slope>
  double measure(const Slope& slope, Index first, Index count) {
    double sum = 0.0;
    for (Index i = 0; i < count; ++i) {
      const Index row = first + i;
      const double z = c_ * X_.dot(row, v_) + offset_[0];
      const double weight = batches_.weight != nullptr ? batches_.weight[row] : 1.0;
      const double found = slope(batches_.y[row], z);
      if (seen_ != nullptr) {
        seen_[row] = found;
      }
      const double g = weight * found / static_cast<double>(count);
      slopes_[static_cast<std::size_t>(i)] = g;
      sum += g;
    }
    return sum;
  }

  void shrink(double factor) {
    c_ *= factor;
    if (!(std::abs(c_) > kSmallest)) {
      fold();
    }
  }

  void descend(Index first, Index count, double gain) {
    for (Index i = 0; i < count; ++i) {
      const double g = slopes_[static_cast<std::size_t>(i)];
      if (g == 0.0) {
        continue;
      }
      const double a = -gain * g / c_;
      if (bounded_) {
        square_ += a * (2.0 * X_.dot(first + i, v_) + a * X_.squared_norm(first + i));
      }
      X_.add(first + i, a, v_);
      if (u_ != nullptr && a_ != 0.0) {
        X_.add(first + i, -a_ * a, u_);
      }
    }
  }

  void threshold(double t) {
    fold();
    for (Index j = 0; j < X_.columns; ++j) {
      v_[j] -= std::min(std::max(v_[j], -t), t);
    }
    if (bounded_) {
      square_ = tikhon::dot(v_, v_, X_.columns);
    }
  }

  void project() {
    const double norm = std::abs(c_) * std::sqrt(std::max(square_, 0.0));
    if (norm > batches_.radius) {
      shrink(batches_.radius / norm);
    }
  }

  // c = 1, a = 0: w is v and the sum is u.
  void fold() {
    if (u_ != nullptr && a_ != 0.0) {
      axpy(a_, v_, u_, X_.columns);
    }
    a_ = 0.0;
    if (c_ != 1.0) {
      for (Index j = 0; j < X_.columns; ++j) {
        v_[j] *= c_;
      }
      square_ *= c_ * c_;
      c_ = 1.0;
    }
  }

  const Rows& X_;
  const Batches& batches_;
  double* v_;
  double* u_;
  double* offset_;
  double* seen_;
  std::vector<double> slopes_;
  bool bounded_;
  double square_ = 0.0;  // of the norm of v, where there is a ball
  double c_ = 1.0;
  double a_ = 0.0;
};

}  // namespace

template <class Rows>
void stochastic_pass(const Rows& X, const Batches& batches, const std::string& loss,
                     double parameter, const Iterates& at) {
  Walk<Rows> walk(X, batches, at);
  if (loss == "squared") {
    walk.run(SquaredSlope{});
  } else if (loss == "logistic") {
    walk.run(LogisticSlope{});
  } else if (loss == "hinge") {
    walk.run(HingeSlope{});
  } else if (loss == "squared_hinge") {
    walk.run(SquaredHingeSlope{});
  } else if (loss == "huber") {
    walk.run(HuberSlope{parameter});
  } else if (loss == "quantile") {
    walk.run(QuantileSlope{parameter});
  } else if (loss == "epsilon_insensitive") {
    walk.run(EpsilonInsensitiveSlope{parameter});
  } else if (loss == "poisson") {
    walk.run(PoissonSlope{});
  } else if (loss == "gamma") {
    walk.run(GammaSlope{});
  } else {
    throw std::invalid_argument("`loss` is not compiled: " + loss);
  }
}

template void stochastic_pass(const BlockOfRows&, const Batches&, const std::string&, double,
                              const Iterates&);
template void stochastic_pass(const ChosenRows<float, std::int32_t>&, const Batches&,
                              const std::string&, double, const Iterates&);
template void stochastic_pass(const ChosenRows<double, std::int32_t>&, const Batches&,
                              const std::string&, double, const Iterates&);
template void stochastic_pass(const ChosenRows<float, std::int64_t>&, const Batches&,
                              const std::string&, double, const Iterates&);
template void stochastic_pass(const ChosenRows<double, std::int64_t>&, const Batches&,
                              const std::string&, double, const Iterates&);

}  // namespace tikhon
