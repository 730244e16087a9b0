#include "tikhon/dual_descent.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tikhon/support_gap.hpp"
#include "tikhon/vector_ops.hpp"

namespace tikhon {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kLookEvery = 256;
constexpr double kFirstLook = 4.0;    // sweeps before the first measurement of the gap
constexpr double kPriceOfLook = 1.0;  // of a measurement, in sweeps
constexpr double kFirstRest = 0.1;    // range of slopes at which the gap is looked at

// xorshift64*: a fixed seed and an own generator, so that the order of rows is the same everywhere.
class Shuffle {
 public:
  Index below(Index n) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<Index>(((state_ * 0x2545F4914F6CDD1DULL) >> 33) % std::uint64_t(n));
  }

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15ULL;
};

template <class Rows>
class DualDescent {
 public:
  DualDescent(const Rows& X, const DualProblem& problem, const DualOptions& options,
              const Stop& stop)
      : X_(X),
        problem_(problem),
        options_(options),
        stop_(stop),
        mean_square_(dot(problem.mean, problem.mean, X.d)),
        lower_(X.n),
        upper_(X.n),
        extra_(X.n, 0.0),
        square_(X.n),
        along_mean_(X.n, 0.0),
        beta_(X.n, 0.0),
        v_(X.d, 0.0) {
    for (Index i = 0; i < X.n; ++i) {
      if (mean_square_ > 0.0) {
        along_mean_[i] = X.dot(i, problem.mean);
      }
      square_[i] = X.square(i) - 2.0 * along_mean_[i] + mean_square_;
    }
  }

  void start(const double* beta) {
    beta_.assign(beta, beta + X_.n);
    rebuild();
  }

  DualSolution solve(double strength, double before) {
    set_strength(strength);
    rescale(strength, before);
    const double wanted = options_.gap * strength;
    DualSolution solution{offset_, kInfinity, 0.0, DualStatus::out_of_sweeps};
    activate();
    double look_at = kFirstLook;  // in sweeps over all rows
    double looked_at = 0.0;
    double bettered_at = 0.0;
    double best = kInfinity;
    double range = kInfinity;  // of slopes, in the sweep before
    for (Index sweep = 1; sweep <= options_.sweeps; ++sweep) {
      const double share = double(active_.size()) / double(std::max<Index>(1, X_.n));
      const double spread = this->sweep(range);
      if (stop_.now()) {
        solution.status = DualStatus::stopped;
        break;
      }
      solution.active_sweeps += share;
      range = spread > 0.0 ? spread : kInfinity;
      const bool rested = spread <= small_slope_;
      if (solution.active_sweeps < look_at && !rested) {
        continue;
      }
      const double gap = measure(wanted, &solution.offset);
      if (gap <= wanted) {
        solution.gap = gap;
        solution.status = DualStatus::converged;
        return solution;
      }
      if (gap <= 0.5 * best) {
        best = gap;
        bettered_at = solution.active_sweeps;
      }
      if (solution.active_sweeps - bettered_at > double(options_.patience)) {
        solution.status = DualStatus::stalled;
        break;
      }
      if (rested) {
        small_slope_ *= std::min(0.5, std::max(0.05, 0.5 * wanted / gap));
        activate();
        range = kInfinity;
      }
      solution.active_sweeps += kPriceOfLook;
      looked_at = solution.active_sweeps;
      look_at = looked_at + std::max(kFirstLook, 0.5 * looked_at);
    }
    make_feasible();
    solution.gap = measure(wanted, &solution.offset);
    return solution;
  }

  const std::vector<double>& beta() const { return beta_; }

  // w = v - sum(beta) mean
  void coefficients(double* w) const {
    for (Index j = 0; j < X_.d; ++j) {
      w[j] = v_[j] - sum_ * problem_.mean[j];
    }
  }

 private:
  struct State {
    std::vector<double> beta;
    std::vector<double> v;
    double sum;
    double v_along_mean;
  };

  void set_strength(double strength) {
    for (Index i = 0; i < X_.n; ++i) {
      lower_[i] = strength * problem_.lower[i];
      upper_[i] = strength * problem_.upper[i];
      extra_[i] = problem_.quadratic[i] / strength;
    }
    small_slope_ = kFirstRest;
  }

  void activate() {
    active_.clear();
    for (Index i = 0; i < X_.n; ++i) {
      if (lower_[i] < upper_[i]) {
        active_.push_back(i);
      }
    }
  }

  // v, sum and v . mean from beta.
  void rebuild() {
    std::fill(v_.begin(), v_.end(), 0.0);
    sum_ = 0.0;
    v_along_mean_ = 0.0;
    for (Index i = 0; i < X_.n; ++i) {
      if (beta_[i] != 0.0) {
        X_.add(i, beta_[i], v_.data());
        sum_ += beta_[i];
        v_along_mean_ += beta_[i] * along_mean_[i];
      }
    }
  }

  // x~_i . w, without the offset.
  double product(Index i) const {
    return X_.dot(i, v_.data()) - sum_ * along_mean_[i] - v_along_mean_ + sum_ * mean_square_;
  }

  // One visit to every active row in random order; the largest minus the smallest slope seen.
  double sweep(double range) {
    const double tube = problem_.tube;
    const double rho = problem_.rho;
    double high = -kInfinity;
    double low = kInfinity;
    for (Index count = Index(active_.size()), k = 0; k < count; ++k) {
      if (k % kLookEvery == 0 && stop_.requested()) {
        return kInfinity;
      }
      std::swap(active_[k], active_[k + shuffle_.below(count - k)]);
      const Index i = active_[k];
      const double before = beta_[i];
      const double slope =
          problem_.target[i] - product(i) - offset_ - rho * sum_ - extra_[i] * before;
      // Slopes of going up and of going down; the tube has a kink at zero.
      const double up = slope - (before < 0.0 ? -tube : tube);
      const double down = slope - (before > 0.0 ? tube : -tube);
      const bool fixed_up = before >= upper_[i];
      const bool fixed_down = before <= lower_[i];
      if ((fixed_up || up < -range) && (fixed_down || down > range)) {
        std::swap(active_[k], active_[count - 1]);
        active_.pop_back();
        --count;
        --k;
        continue;
      }
      const double rise = fixed_up ? 0.0 : std::max(up, 0.0);
      const double fall = fixed_down ? 0.0 : std::min(down, 0.0);
      const double pull = rise > 0.0 ? rise : fall;
      high = std::max(high, pull);
      low = std::min(low, pull);
      const double q = square_[i] + rho + extra_[i];
      if (pull == 0.0) {
        continue;
      }
      double after = q > 0.0 ? before + pull / q : (pull > 0.0 ? upper_[i] : lower_[i]);
      if (tube > 0.0 && before * after < 0.0) {
        after = 0.0;
      }
      after = std::min(std::max(after, lower_[i]), upper_[i]);
      const double step = after - before;
      if (step != 0.0) {
        beta_[i] = after;
        X_.add(i, step, v_.data());
        sum_ += step;
        v_along_mean_ += step * along_mean_[i];
      }
    }
    if (problem_.free) {
      offset_ += rho * sum_;
    }
    return high - low;
  }

  // Scale the heavier sign until the sum is zero, where the offset is free.
  void make_feasible() {
    if (!problem_.free) {
      return;
    }
    double plus = 0.0;
    double minus = 0.0;
    for (const double b : beta_) {
      (b > 0.0 ? plus : minus) += std::abs(b);
    }
    if (plus == minus) {
      return;
    }
    const double heavier = std::max(plus, minus);
    const double factor = std::min(plus, minus) / heavier;
    for (double& b : beta_) {
      if ((b > 0.0) == (plus > minus)) {
        b *= factor;
      }
    }
    rebuild();
  }

  // The duality gap at the feasible point nearby, which afterwards is where the descent goes on
  // from if it is good enough.
  double measure(double wanted, double* offset) {
    const State kept{beta_, v_, sum_, v_along_mean_};
    make_feasible();
    std::vector<double> f(X_.n);
    for (Index i = 0; i < X_.n; ++i) {
      if (i % kLookEvery == 0 && stop_.requested()) {
        break;
      }
      f[i] = problem_.target[i] - product(i);
    }
    double b = problem_.free ? offset_ : problem_.rho * sum_;
    double gap = gap_at(f, b);
    if (problem_.free && gap > wanted) {
      const double other =
          smooth() ? newton_offset(f, b) : best_offset(f, lower_, upper_, problem_.tube);
      const double better = gap_at(f, other);
      if (better < gap) {
        gap = better;
        b = other;
      }
    }
    *offset = b;
    if (gap > wanted && problem_.free) {
      beta_ = kept.beta;
      v_ = kept.v;
      sum_ = kept.sum;
      v_along_mean_ = kept.v_along_mean;
    }
    return gap;
  }

  bool smooth() const { return X_.n > 0 && problem_.quadratic[0] > 0.0; }

  // One row's share of the gap; f is t - x~ . w.
  double gap_at(const std::vector<double>& f, double offset) const {
    double gap = 0.0;
    for (Index i = 0; i < X_.n; ++i) {
      if (lower_[i] >= upper_[i]) {
        continue;
      }
      const double r = f[i] - offset;
      if (extra_[i] > 0.0) {
        // C p (r)_+^2 / 2 + extra beta^2 / 2 - beta r, with the loss on the side of the box.
        const bool lossy = upper_[i] > 0.0 ? r > 0.0 : r < 0.0;
        const double left = (lossy ? r / std::sqrt(extra_[i]) : 0.0);
        const double right = beta_[i] * std::sqrt(extra_[i]);
        gap += lossy ? 0.5 * (left - right) * (left - right) : 0.5 * right * right - beta_[i] * r;
      } else {
        gap += gap_term(r, beta_[i], lower_[i], upper_[i], problem_.tube);
      }
    }
    return gap;
  }

  // The offset that minimises the sum of squared hinges: Newton on a piecewise quadratic.
  double newton_offset(const std::vector<double>& f, double b) const {
    for (int step = 0; step < 50; ++step) {
      double slope = 0.0;
      double weight = 0.0;
      for (Index i = 0; i < X_.n; ++i) {
        const double r = f[i] - b;
        if (extra_[i] > 0.0 && lower_[i] < upper_[i] && (upper_[i] > 0.0 ? r > 0.0 : r < 0.0)) {
          slope += r / extra_[i];
          weight += 1.0 / extra_[i];
        }
      }
      if (!(weight > 0.0) || std::abs(slope) <= 1e-15 * weight * (1.0 + std::abs(b))) {
        break;
      }
      b += slope / weight;
    }
    return b;
  }

  // Of all multiples of the last solution that the new box holds, the best one.
  void rescale(double strength, double before) {
    if (!(before > 0.0)) {
      return;
    }
    const double most = strength / before;
    double linear = 0.0;
    double curved = 0.0;
    for (Index i = 0; i < X_.n; ++i) {
      linear += beta_[i] * problem_.target[i] - problem_.tube * std::abs(beta_[i]);
      curved += extra_[i] * beta_[i] * beta_[i];
    }
    double square = curved + problem_.rho * sum_ * sum_;
    std::vector<double> w(X_.d);
    coefficients(w.data());
    square += dot(w.data(), w.data(), X_.d);
    double factor = square > 0.0 ? linear / square : 1.0;
    factor = std::min(std::max(factor, std::min(1.0, most)), most);
    for (Index i = 0; i < X_.n; ++i) {
      beta_[i] = std::min(std::max(factor * beta_[i], lower_[i]), upper_[i]);
    }
    rebuild();
  }

  const Rows& X_;
  const DualProblem problem_;
  const DualOptions options_;
  const Stop& stop_;
  const double mean_square_;
  std::vector<double> lower_;
  std::vector<double> upper_;
  std::vector<double> extra_;       // quadratic / C
  std::vector<double> square_;      // ||x~_i||^2
  std::vector<double> along_mean_;  // x_i . mean
  std::vector<double> beta_;
  std::vector<double> v_;  // sum beta_i x_i
  double sum_ = 0.0;
  double v_along_mean_ = 0.0;
  double offset_ = 0.0;
  double small_slope_ = kFirstRest;
  std::vector<Index> active_;
  Shuffle shuffle_;
};

}  // namespace

template <class Rows>
Index dual_descent(const Rows& X, const DualProblem& problem, const double* strengths, Index count,
                   const DualOptions& options, const double* start, double* beta, double* w,
                   DualSolution* solutions, const Stop& stop) {
  DualDescent<Rows> descent(X, problem, options, stop);
  if (start != nullptr) {
    descent.start(start);
  }
  double before = 0.0;
  for (Index k = 0; k < count; ++k) {
    solutions[k] = descent.solve(strengths[k], before);
    before = strengths[k];
    std::copy(descent.beta().begin(), descent.beta().end(), beta + k * X.n);
    descent.coefficients(w + k * X.d);
    if (solutions[k].status != DualStatus::converged) {
      return k + 1;
    }
  }
  return count;
}

#define TIKHON_DUAL_DESCENT(Rows)                                                                 \
  template Index dual_descent(const Rows&, const DualProblem&, const double*, Index,              \
                              const DualOptions&, const double*, double*, double*, DualSolution*, \
                              const Stop&);
using Sparse32 = SparseRows<float, std::int32_t>;
using Sparse64 = SparseRows<double, std::int32_t>;
using LongSparse32 = SparseRows<float, std::int64_t>;
using LongSparse64 = SparseRows<double, std::int64_t>;
TIKHON_DUAL_DESCENT(Sparse32)
TIKHON_DUAL_DESCENT(Sparse64)
TIKHON_DUAL_DESCENT(LongSparse32)
TIKHON_DUAL_DESCENT(LongSparse64)
TIKHON_DUAL_DESCENT(DenseRows<float>)
TIKHON_DUAL_DESCENT(DenseRows<double>)
#undef TIKHON_DUAL_DESCENT

}  // namespace tikhon
