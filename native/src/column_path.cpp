#include "tikhon/column_path.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tikhon/extrapolation.hpp"
#include "tikhon/gram_path.hpp"
#include "tikhon/parallel.hpp"

namespace tikhon {
namespace {

constexpr Index kRounds = 60;         // passes over all columns at one strength
constexpr Index kSweeps = 100000;     // sweeps between two of them
constexpr Index kFruitless = 6;       // such passes in a row that bring the gap no further down
constexpr double kFirstTarget = 0.3;  // share of the wanted gap that steps may add up to, at first
constexpr double kTighten = 0.1;
constexpr double kProgress = 0.9;
constexpr Index kColumnsAtOnce = 512;

template <class Columns>
class Descent {
 public:
  Descent(const Columns& X, const ColumnProblem& problem, const CoordinatePenalty& penalty,
          double gap, double* w, int threads, const Stop& stop)
      : X_(X),
        problem_(problem),
        penalty_(penalty),
        threads_(threads),
        stop_(stop),
        w_(w),
        q_(static_cast<std::size_t>(X.n)),
        g_(static_cast<std::size_t>(X.count)),
        strong_(static_cast<std::size_t>(X.count)) {
    for (Index j = 0; j < X.count; ++j) {
      w_[j] = std::min(std::max(w_[j], penalty.lower[j]), penalty.upper[j]);
    }
    for (Index i = 0; i < X.n; ++i) {
      null_ += problem.p[i] * problem.y[i] * problem.y[i] / 2.0;
    }
    wanted_ = gap * (null_ > 0.0 ? null_ : 1.0);
    compute_residual();
    correlate_all();
  }

  PathStatus solve(double lam) {
    const double before = lam_ < 0.0 ? lam : lam_;
    lam_ = lam;
    choose_strong(before);
    double target = kFirstTarget;
    double best = kInfinity;
    Index fruitless = 0;
    for (Index round = 0; round < kRounds; ++round) {
      if (!descend(target * wanted_)) {
        return PathStatus::stopped;
      }
      correlate_all();
      const bool more = admit();
      const double gap = duality_gap();
      if (!more && gap <= wanted_) {
        return PathStatus::converged;
      }
      if (stop_.now()) {
        return PathStatus::stopped;
      }
      if (!more) {
        // Rounding may be all that is left: then smaller steps will never add up to less.
        fruitless = gap < kProgress * best ? 0 : fruitless + 1;
        best = std::min(best, gap);
        if (fruitless == kFruitless) {
          return PathStatus::stalled;
        }
        compute_residual();
        target *= kTighten;
      }
    }
    return PathStatus::stalled;
  }

 private:
  Coordinate coordinate(Index j) const { return Coordinate::of(penalty_, j, lam_); }

  double correlation(Index j) const {
    return (X_.dot(j, q_.data()) + offset_ * problem_.mean[j]) / problem_.unit[j];
  }

  // The residual is q / p + offset; its weighted sum is 0.
  void compute_residual() {
    offset_ = 0.0;
    for (Index i = 0; i < X_.n; ++i) {
      q_[i] = problem_.p[i] * problem_.y[i];
    }
    for (Index j = 0; j < X_.count; ++j) {
      if (w_[j] != 0.0) {
        take(j, w_[j]);
      }
    }
  }

  void take(Index j, double amount) {
    const double raw = amount / problem_.unit[j];
    X_.subtract(j, raw, problem_.p, q_.data());
    offset_ += raw * problem_.mean[j];
  }

  void correlate_all() {
    parallel_for(X_.count, kColumnsAtOnce, threads_, [this](Index begin, Index end, int) {
      for (Index j = begin; j < end; ++j) {
        g_[j] = correlation(j);
      }
    });
  }

  // The sequential strong rule: a slope moves by no more than the strength does, nearly always.
  void choose_strong(double before) {
    candidates_.clear();
    for (Index j = 0; j < X_.count; ++j) {
      const Coordinate at = coordinate(j);
      const double h = g_[j] - at.q * w_[j];
      const double gain = std::max(at.gain_up(w_[j], h), at.gain_down(w_[j], h));
      const double move = std::max(before - lam_, 0.0) * penalty_.l1[j];
      strong_[j] = gain > -move || w_[j] != 0.0;
      if (strong_[j]) {
        candidates_.push_back(j);
      }
    }
  }

  bool admit() {
    bool any = false;
    for (Index j = 0; j < X_.count; ++j) {
      if (strong_[j]) {
        continue;
      }
      const Coordinate at = coordinate(j);
      const double h = g_[j] - at.q * w_[j];
      if (std::max(at.gain_up(w_[j], h), at.gain_down(w_[j], h)) > 0.0) {
        strong_[j] = true;
        candidates_.push_back(j);
        any = true;
      }
    }
    if (any) {
      std::sort(candidates_.begin(), candidates_.end());
    }
    return any;
  }

  // One coordinate to its minimum; the decrease of the objective, but for the penalty's kink.
  double update(Index j) {
    const Coordinate at = coordinate(j);
    const double moved = at.minimiser(correlation(j) + w_[j], 1.0) - w_[j];
    if (moved == 0.0) {
      return 0.0;
    }
    take(j, moved);
    w_[j] += moved;
    return moved * moved * (1.0 + at.q) / 2.0;
  }

  // Sweep over the candidates, and over the nonzero ones among them until they are at rest; again
  // until a sweep over all candidates changes little. False when it was stopped.
  bool descend(double target) {
    Index left = kSweeps;
    while (left > 0) {
      --left;
      const double gained = sweep_over(candidates_);
      if (stop_.now()) {
        return false;
      }
      if (gained <= target) {
        return true;
      }
      support_.clear();
      std::copy_if(candidates_.begin(), candidates_.end(), std::back_inserter(support_),
                   [this](Index j) { return w_[j] != 0.0; });
      if (!descend_on_support(target, left)) {
        return false;
      }
    }
    return true;
  }

  bool descend_on_support(double target, Index& left) {
    extrapolation_.restart(support_.size());
    for (; left > 0; --left) {
      const double gained = sweep_over(support_);
      if (gained <= kTighten * target) {
        return true;
      }
      if (extrapolation_.add(support_, w_)) {
        extrapolate();
      }
      if (stop_.now()) {
        return false;
      }
    }
    return true;
  }

  double sweep_over(const std::vector<Index>& columns) {
    double gained = 0.0;
    Index visited = 0;
    for (const Index j : columns) {
      gained += update(j);
      if ((++visited & 4095) == 0 && stop_.now()) {
        break;
      }
    }
    return gained;
  }

  // Try the extrapolated point, and keep it if the objective is lower there.
  void extrapolate() {
    const double before = objective();
    const std::vector<double> held = extrapolation_.current(support_, w_);
    if (!extrapolation_.propose(proposal_)) {
      return;
    }
    set_support(proposal_);
    if (!(objective() < before)) {
      set_support(held);
    }
    extrapolation_.restart(support_.size());
  }

  void set_support(const std::vector<double>& values) {
    for (std::size_t k = 0; k < support_.size(); ++k) {
      const Index j = support_[k];
      const double value = std::min(std::max(values[k], penalty_.lower[j]), penalty_.upper[j]);
      if (value != w_[j]) {
        take(j, value - w_[j]);
        w_[j] = value;
      }
    }
  }

  // sum p r^2
  double spread() const {
    double squares = 0.0;
    double sum = 0.0;
    double weight = 0.0;
    for (Index i = 0; i < X_.n; ++i) {
      if (problem_.p[i] > 0.0) {
        squares += q_[i] * (q_[i] / problem_.p[i]);
        sum += q_[i];
        weight += problem_.p[i];
      }
    }
    return std::max(squares + 2.0 * offset_ * sum + offset_ * offset_ * weight, 0.0);
  }

  double objective() const {
    double value = spread() / 2.0;
    for (const Index j : candidates_) {
      const Coordinate at = coordinate(j);
      value += at.a * std::abs(w_[j]) + at.q * w_[j] * w_[j] / 2.0;
    }
    return value;
  }

  // With u = t r, t in (0, 1] such that lam R*(t g / lam) is finite:
  // gap = S (1 - t)^2 / 2 + lam R(w) + lam R*(t g / lam) - t w'g. Columns without any penalty are
  // taken to be at rest; the certificate outside makes sure.
  double duality_gap() const {
    double t = 1.0;
    for (Index j = 0; j < X_.count; ++j) {
      const Coordinate at = coordinate(j);
      const bool stopped = g_[j] > 0.0 ? at.upper == kInfinity : at.lower == -kInfinity;
      const double size = std::abs(g_[j]);
      if (at.q == 0.0 && at.a > 0.0 && stopped && size > at.a) {
        t = std::min(t, at.a / size);
      }
    }
    double gap = spread() * (1.0 - t) * (1.0 - t) / 2.0;
    for (Index j = 0; j < X_.count; ++j) {
      const Coordinate at = coordinate(j);
      const double w = w_[j];
      const double v = t * g_[j];
      const bool free = at.a == 0.0 && at.q == 0.0;
      if (free && w > at.lower && w < at.upper) {
        gap += std::abs(w * g_[j]);
        continue;
      }
      gap += at.a * std::abs(w) + at.q * w * w / 2.0 - w * v + conjugate(at, v);
    }
    return gap;
  }

  // sup_w  v w - a |w| - q w^2 / 2 within the bounds, for v where it is finite.
  static double conjugate(const Coordinate& at, double v) {
    const double shrunk = v > at.a ? v - at.a : (v < -at.a ? v + at.a : 0.0);
    double best = 0.0;
    if (at.q > 0.0) {
      best = shrunk / at.q;
    } else if (shrunk > 0.0) {
      best = at.upper == kInfinity ? 0.0 : at.upper;
    } else if (shrunk < 0.0) {
      best = at.lower == -kInfinity ? 0.0 : at.lower;
    }
    best = std::min(std::max(best, at.lower), at.upper);
    return v * best - at.a * std::abs(best) - at.q * best * best / 2.0;
  }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  const Columns X_;
  const ColumnProblem problem_;
  const CoordinatePenalty penalty_;
  const int threads_;
  const Stop& stop_;
  double* const w_;
  std::vector<double> q_;
  double offset_ = 0.0;
  std::vector<double> g_;
  std::vector<std::uint8_t> strong_;
  double null_ = 0.0;
  double wanted_ = 0.0;
  double lam_ = -1.0;
  std::vector<Index> candidates_;
  std::vector<Index> support_;
  Extrapolation extrapolation_;
  std::vector<double> proposal_;
};

}  // namespace

template <class Columns>
SparsePath column_path(const Columns& X, const ColumnProblem& problem,
                       const CoordinatePenalty& penalty, const double* lams, Index count,
                       double gap, double* w, int threads, const Stop& stop) {
  Descent<Columns> descent(X, problem, penalty, gap, w, threads, stop);
  SparsePath path;
  bool stopped = false;
  for (Index k = 0; k < count; ++k) {
    PathStatus ended = PathStatus::stopped;
    if (!stopped) {
      ended = descent.solve(lams[k]);
      stopped = ended == PathStatus::stopped;
      path.solved += stopped ? 0 : 1;
    }
    path.status.push_back(static_cast<int>(ended));
    for (Index j = 0; j < X.count; ++j) {
      if (w[j] != 0.0) {
        path.columns.push_back(j);
        path.values.push_back(w[j]);
      }
    }
    path.starts.push_back(static_cast<Index>(path.columns.size()));
  }
  return path;
}

#define TIKHON_INSTANTIATE(Columns)                                                               \
  template SparsePath column_path(const Columns&, const ColumnProblem&, const CoordinatePenalty&, \
                                  const double*, Index, double, double*, int, const Stop&);
using SparseF32 = SparseColumns<float, std::int32_t>;
using SparseF64 = SparseColumns<double, std::int32_t>;
using SparseF32Wide = SparseColumns<float, std::int64_t>;
using SparseF64Wide = SparseColumns<double, std::int64_t>;
TIKHON_INSTANTIATE(SparseF32)
TIKHON_INSTANTIATE(SparseF64)
TIKHON_INSTANTIATE(SparseF32Wide)
TIKHON_INSTANTIATE(SparseF64Wide)
TIKHON_INSTANTIATE(DenseColumns<float>)
TIKHON_INSTANTIATE(DenseColumns<double>)
#undef TIKHON_INSTANTIATE

}  // namespace tikhon
