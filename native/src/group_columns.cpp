#include "tikhon/group_columns.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tikhon/multiversion.hpp"

namespace tikhon {
namespace {

constexpr Index kLanes = 8;
constexpr Index kTogether = 4;  // columns for one pass over the residual
constexpr int kRootSteps = 60;
constexpr double kRootAccuracy = 1e-14;
constexpr double kFlat = 1e-14;  // squared length, relative to the group's largest, taken for none

// The products of four columns with the residual, each over eight lanes that are added in order.
struct Correlate {
  template <Isa isa, class T>
  TIKHON_INLINE static void each(const T* TIKHON_RESTRICT a, Index stride,
                                 const double* TIKHON_RESTRICT r, Index n, double* result) {
    const T* TIKHON_RESTRICT b = a + stride;
    const T* TIKHON_RESTRICT c = b + stride;
    const T* TIKHON_RESTRICT d = c + stride;
    double lane[kTogether][kLanes] = {};
    Index i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (Index l = 0; l < kLanes; ++l) {
        lane[0][l] += static_cast<double>(a[i + l]) * r[i + l];
        lane[1][l] += static_cast<double>(b[i + l]) * r[i + l];
        lane[2][l] += static_cast<double>(c[i + l]) * r[i + l];
        lane[3][l] += static_cast<double>(d[i + l]) * r[i + l];
      }
    }
    for (Index l = 0; i < n; ++i, ++l) {
      lane[0][l] += static_cast<double>(a[i]) * r[i];
      lane[1][l] += static_cast<double>(b[i]) * r[i];
      lane[2][l] += static_cast<double>(c[i]) * r[i];
      lane[3][l] += static_cast<double>(d[i]) * r[i];
    }
    for (Index k = 0; k < kTogether; ++k) {
      result[k] = 0.0;
      for (Index l = 0; l < kLanes; ++l) {
        result[k] += lane[k][l];
      }
    }
  }

  template <Isa isa>
  TIKHON_INLINE static void run(const float* a, Index stride, const double* r, Index n,
                                double* result) {
    each<isa, float>(a, stride, r, n, result);
  }

  template <Isa isa>
  TIKHON_INLINE static void run(const double* a, Index stride, const double* r, Index n,
                                double* result) {
    each<isa, double>(a, stride, r, n, result);
  }
};

// r -= w_0 a_0 + w_1 a_1 + w_2 a_2 + w_3 a_3
struct Subtract {
  template <Isa isa, class T>
  TIKHON_INLINE static void each(const double* w, const T* TIKHON_RESTRICT a, Index stride,
                                 double* TIKHON_RESTRICT r, Index n) {
    const T* TIKHON_RESTRICT b = a + stride;
    const T* TIKHON_RESTRICT c = b + stride;
    const T* TIKHON_RESTRICT d = c + stride;
    const double w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
    for (Index i = 0; i < n; ++i) {
      r[i] -= ((w0 * static_cast<double>(a[i]) + w1 * static_cast<double>(b[i])) +
               w2 * static_cast<double>(c[i])) +
              w3 * static_cast<double>(d[i]);
    }
  }

  template <Isa isa>
  TIKHON_INLINE static void run(const double* w, const float* a, Index stride, double* r, Index n) {
    each<isa, float>(w, a, stride, r, n);
  }

  template <Isa isa>
  TIKHON_INLINE static void run(const double* w, const double* a, Index stride, double* r,
                                Index n) {
    each<isa, double>(w, a, stride, r, n);
  }
};

template <class T>
class Descent {
 public:
  Descent(const TurnedGroups<T>& groups, Index columns, Index targets, double lam, double* W,
          double* R)
      : groups_(groups), columns_(columns), targets_(targets), lam_(lam), W_(W), R_(R) {}

  // One group to its minimum; returns ||A_g change||^2 / 2.
  double update(Index group) {
    first_ = groups_.starts[group];
    length_ = groups_.starts[group + 1] - first_;
    square_ = groups_.square + first_;
    load();
    minimise(lam_ * groups_.weight[group]);
    return store();
  }

 private:
  // U = A_g'R + D W_g and the norm of W_g.
  void load() {
    u_.assign(static_cast<std::size_t>(length_ * targets_), 0.0);
    norm_ = 0.0;
    for (Index t = 0; t < targets_; ++t) {
      const double* r = R_ + t * groups_.n;
      const double* w = W_ + t * columns_ + first_;
      double* u = u_.data() + t * length_;
      for (Index i = 0; i < length_; i += kTogether) {
        const Index some = std::min(kTogether, length_ - i);
        double result[kTogether];
        const T* a = groups_.A + (first_ + i) * groups_.stride;
        if (some == kTogether) {
          multiversion<Correlate>(a, groups_.stride, r, groups_.n, result);
        } else {
          for (Index k = 0; k < some; ++k) {
            double same[kTogether];
            multiversion<Correlate>(a + k * groups_.stride, Index{0}, r, groups_.n, same);
            result[k] = same[0];
          }
        }
        std::copy_n(result, some, u + i);
      }
      for (Index i = 0; i < length_; ++i) {
        u[i] += square_[i] * w[i];
        norm_ += w[i] * w[i];
      }
    }
    norm_ = std::sqrt(norm_);
    size_.assign(static_cast<std::size_t>(length_), 0.0);
    for (Index t = 0; t < targets_; ++t) {
      for (Index i = 0; i < length_; ++i) {
        size_[i] += u_[t * length_ + i] * u_[t * length_ + i];
      }
    }
  }

  // Write factors f with W_i = f_i U_i; nan where a coefficient stays as it is.
  void minimise(double price) {
    factor_.assign(static_cast<std::size_t>(length_), 0.0);
    if (price == 0.0) {
      const double least = kFlat * *std::max_element(square_, square_ + length_);
      for (Index i = 0; i < length_; ++i) {
        factor_[i] = square_[i] > least ? 1.0 / square_[i] : std::nan("");
      }
      return;
    }
    const double norm = root(price);
    if (norm > 0.0) {
      for (Index i = 0; i < length_; ++i) {
        factor_[i] = norm / (square_[i] * norm + price);
      }
    }
  }

  // The norm h of the minimum: Newton's method on 1 / sqrt(sum size_i / (d_i h + price)^2), which
  // is increasing and concave in h, so that steps from the left never go too far.
  double root(double price) const {
    double total = 0.0;
    for (Index i = 0; i < length_; ++i) {
      total += size_[i];
    }
    if (!(total > price * price)) {
      return 0.0;
    }
    double h = norm_;
    for (int step = 0; step < kRootSteps; ++step) {
      double sum = 0.0;
      double slope = 0.0;
      for (Index i = 0; i < length_; ++i) {
        const double denominator = square_[i] * h + price;
        const double part = size_[i] / (denominator * denominator);
        sum += part;
        slope += part * square_[i] / denominator;
      }
      if (!(slope > 0.0)) {
        return norm_;
      }
      const double next = std::max(0.0, h + (std::sqrt(sum) - 1.0) * sum / slope);
      const bool settled = std::abs(next - h) <= kRootAccuracy * next;
      h = next;
      if (settled) {
        break;
      }
    }
    return h;
  }

  double store() {
    double energy = 0.0;
    for (Index t = 0; t < targets_; ++t) {
      double* r = R_ + t * groups_.n;
      double* w = W_ + t * columns_ + first_;
      const double* u = u_.data() + t * length_;
      for (Index i = 0; i < length_; i += kTogether) {
        const Index some = std::min(kTogether, length_ - i);
        double moved[kTogether] = {};
        bool any = false;
        for (Index k = 0; k < some; ++k) {
          const double factor = factor_[i + k];
          const double value = std::isnan(factor) ? w[i + k] : factor * u[i + k];
          moved[k] = value - w[i + k];
          any = any || moved[k] != 0.0;
          energy += moved[k] * moved[k] * square_[i + k] / 2.0;
          w[i + k] = value;
        }
        if (any) {
          subtract(moved, some, first_ + i, r);
        }
      }
    }
    return energy;
  }

  void subtract(const double* moved, Index some, Index column, double* r) const {
    const T* a = groups_.A + column * groups_.stride;
    if (some == kTogether) {
      multiversion<Subtract>(moved, a, groups_.stride, r, groups_.n);
      return;
    }
    for (Index k = 0; k < some; ++k) {
      const double alone[kTogether] = {moved[k], 0.0, 0.0, 0.0};
      multiversion<Subtract>(static_cast<const double*>(alone), a + k * groups_.stride, Index{0}, r,
                             groups_.n);
    }
  }

  const TurnedGroups<T> groups_;
  const Index columns_;
  const Index targets_;
  const double lam_;
  double* const W_;
  double* const R_;
  Index first_ = 0;
  Index length_ = 0;
  const double* square_ = nullptr;
  double norm_ = 0.0;
  std::vector<double> u_;
  std::vector<double> size_;
  std::vector<double> factor_;
};

}  // namespace

template <class T>
double group_columns(const TurnedGroups<T>& groups, Index columns, Index targets,
                     const Index* chosen, Index count, double lam, Sweeps sweeps, double* W,
                     double* R, const Stop& stop) {
  Descent<T> descent(groups, columns, targets, lam, W, R);
  double gained = 0.0;
  for (int sweep = 0; sweep < sweeps.most; ++sweep) {
    gained = 0.0;
    for (Index k = 0; k < count; ++k) {
      gained += descent.update(chosen[k]);
      if ((k & 63) == 63 && stop.now()) {
        return gained;
      }
    }
    if (gained <= sweeps.enough || stop.now()) {
      break;
    }
  }
  return gained;
}

template double group_columns(const TurnedGroups<float>&, Index, Index, const Index*, Index, double,
                              Sweeps, double*, double*, const Stop&);
template double group_columns(const TurnedGroups<double>&, Index, Index, const Index*, Index,
                              double, Sweeps, double*, double*, const Stop&);

}  // namespace tikhon
