#include "tikhon/smo.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "tikhon/parallel.hpp"
#include "tikhon/smo_passes.hpp"
#include "tikhon/support_gap.hpp"
#include "tikhon/vector_ops.hpp"

namespace tikhon {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kLookEvery = 64;      // steps between looks at the clock
constexpr Index kShrinkEvery = 1000;  // steps, or as many as there are rows
constexpr double kWorthShrinking = 0.1;
constexpr int kRounds = 30;  // recomputations of the residuals for one strength
constexpr double kLeastCurvature = 1e-12;

enum class Outcome { gap_reached, no_violation, stopped, out_of_steps };

template <class T>
class Smo {
 public:
  Smo(const KernelTable& table, SharedRows<T>* shared, const SmoProblem& problem,
      const SmoOptions& options, const Stop& stop)
      : table_(table),
        shared_(shared),
        problem_(problem),
        options_(options),
        stop_(stop),
        n_(table.size()),
        cache_(n_, options.cache_bytes),
        lower_(n_),
        upper_(n_),
        diagonal_(n_),
        beta_(n_, 0.0),
        residual_(problem.target, problem.target + n_) {
    for (Index i = 0; i < n_; ++i) {
      diagonal_[i] = table.diagonal(i);
    }
  }

  void start(const double* beta) {
    beta_.assign(beta, beta + n_);
    recompute();
  }

  // From the solution for `before` (0 when there is none) to the one for `strength`.
  SmoSolution solve(double strength, double before) {
    for (Index i = 0; i < n_; ++i) {
      lower_[i] = strength * problem_.lower[i];
      upper_[i] = strength * problem_.upper[i];
    }
    rescale(strength, before);
    const double wanted = options_.gap * strength;
    double target = wanted;
    double last = kInfinity;
    SmoSolution solution{0.0, kInfinity, 0, SmoStatus::stalled};
    activate_all();
    for (int round = 0; round < kRounds; ++round) {
      const Outcome outcome = iterate(target, &solution.steps);
      finish_round();
      solution.offset =
          problem_.constrained ? best_offset(residual_, lower_, upper_, problem_.tube) : 0.0;
      solution.gap = full_gap(solution.offset);
      if (solution.gap <= wanted) {
        solution.status = SmoStatus::converged;
        return solution;
      }
      if (outcome == Outcome::stopped || outcome == Outcome::out_of_steps) {
        solution.status =
            outcome == Outcome::stopped ? SmoStatus::stopped : SmoStatus::out_of_steps;
        return solution;
      }
      if (outcome == Outcome::no_violation && !(solution.gap < 0.5 * last)) {
        return solution;  // The rows at hand are too coarse for more.
      }
      last = std::min(last, solution.gap);
      target = std::min(target, std::max(0.5 * target, 0.1 * wanted));
      activate_violators(solution.offset);
    }
    return solution;
  }

  const std::vector<double>& beta() const { return beta_; }
  const std::vector<double>& residual() const { return residual_; }

 private:
  // --- which rows are active -----------------------------------------------------------------

  void activate_all() {
    std::vector<Index> all;
    for (Index i = 0; i < n_; ++i) {
      // Rows that everybody shares are read in place, with the rows that cannot move among them.
      if (shared_ != nullptr || lower_[i] < upper_[i]) {
        all.push_back(i);
      }
    }
    activate(std::move(all));
  }

  // Rows that were active, and whoever could move after the residuals were recomputed.
  void activate_violators(double offset) {
    std::vector<char> chosen(n_, 0);
    for (const Index i : index_) {
      chosen[i] = lower_[i] < upper_[i];
    }
    Index fresh = 0;
    for (Index i = 0; i < n_; ++i) {
      if (!chosen[i] && lower_[i] < upper_[i]) {
        const double r = residual_[i] - offset;
        if (r + up_of(i) > 0.0 || r + down_of(i) < 0.0) {
          chosen[i] = 1;
          ++fresh;
        }
      }
    }
    if (fresh == 0) {
      load();
      return;
    }
    std::vector<Index> all;
    for (Index i = 0; i < n_; ++i) {
      if (chosen[i]) {
        all.push_back(i);
      }
    }
    activate(std::move(all));
  }

  void activate(std::vector<Index> rows) {
    const bool same = rows == index_;
    index_ = std::move(rows);
    whole_ = Index(index_.size()) == n_;
    if (!same) {
      cache_.reset(Index(index_.size()));
      panel_.reset();
    }
    load();
  }

  // Copies of what a step reads of the active rows, side by side.
  void load() {
    const Index m = Index(index_.size());
    width_ = padded(m);
    nothing_.assign(width_, T(0));
    f_.assign(width_, 0.0);
    up_.assign(width_, -kInfinity);
    down_.assign(width_, kInfinity);
    d_.assign(width_, 1.0F);
    for (Index k = 0; k < m; ++k) {
      const Index i = index_[k];
      f_[k] = residual_[i];
      d_[k] = std::max(float(diagonal_[i]), std::numeric_limits<float>::min());
      set_bounds(k);
    }
    if (!problem_.constrained) {
      up_[m] = down_[m] = 0.0;  // the idle row
    }
  }

  // Without a free offset the sum of the coefficients is nobody's business. An idle row behind the
  // last one, whose kernel is zero and whose coefficient has no bounds, takes up what the others
  // leave: steps on one coefficient are then steps on a pair, and there is one algorithm.
  bool idle(Index k) const { return k >= Index(index_.size()); }

  void store() {
    for (std::size_t k = 0; k < index_.size(); ++k) {
      residual_[index_[k]] = f_[k];
    }
  }

  bool shrink(double highest, double lowest) {
    std::vector<Index> kept;
    const Index m = Index(index_.size());
    for (Index k = 0; k < m; ++k) {
      if (!(f_[k] + up_[k] < lowest && f_[k] + down_[k] > highest)) {
        kept.push_back(k);
      }
    }
    if (kept.size() < 2 || double(kept.size()) > (1.0 - kWorthShrinking) * double(m)) {
      return false;
    }
    store();
    std::vector<Index> rows(kept.size());
    for (std::size_t k = 0; k < kept.size(); ++k) {
      rows[k] = index_[kept[k]];
    }
    if (whole_ && shared_ != nullptr) {
      cache_.reset(Index(kept.size()));
    } else {
      cache_.keep(kept);
    }
    index_ = std::move(rows);
    whole_ = false;
    panel_.reset();
    load();
    return true;
  }

  // --- rows ----------------------------------------------------------------------------------

  const T* row(Index k) {
    if (idle(k)) {
      return nothing_.data();
    }
    const Index i = index_[k];
    if (shared_ != nullptr && whole_) {
      return shared_->row(i);
    }
    return cache_.get(i, [&](T* out) { fill(i, out); });
  }

  void fill(Index i, T* out) {
    const Index m = Index(index_.size());
    if (shared_ != nullptr) {
      const T* full = shared_->row(i);
      for (Index k = 0; k < m; ++k) {
        out[k] = full[index_[k]];
      }
    } else {
      if (!panel_) {
        panel_ = make_panel<T>(table_, index_.data(), m);
      }
      panel_->row(i, 0, m, out);
    }
  }

  // --- slopes --------------------------------------------------------------------------------

  double up_of(Index i) const {
    const double side = beta_[i] < 0.0 ? problem_.tube : -problem_.tube;
    return beta_[i] < upper_[i] ? side : -kInfinity;
  }

  double down_of(Index i) const {
    const double side = beta_[i] > 0.0 ? -problem_.tube : problem_.tube;
    return beta_[i] > lower_[i] ? side : kInfinity;
  }

  void set_bounds(Index k) {
    up_[k] = up_of(index_[k]);
    down_[k] = down_of(index_[k]);
  }

  // How far a coefficient can go before a bound, or zero, where the slope of the tube changes.
  double room(Index i, int direction) const {
    const double b = beta_[i];
    if (direction > 0) {
      return problem_.tube > 0.0 && b < 0.0 ? -b : upper_[i] - b;
    }
    return problem_.tube > 0.0 && b > 0.0 ? b : b - lower_[i];
  }

  void move(Index i, int direction, double by, double most) {
    if (by < most) {
      beta_[i] += direction * by;
    } else if (problem_.tube > 0.0 && direction * beta_[i] < 0.0) {
      beta_[i] = 0.0;
    } else {
      beta_[i] = direction > 0 ? upper_[i] : lower_[i];
    }
  }

  // --- steps ---------------------------------------------------------------------------------

  // What is looked at between steps: the clock, the gap of the active rows, and who is active.
  // Returns whether to go on; `offset` and the range of slopes belong to the step to come.
  struct Pauses {
    Index to_check = 0;
    Index to_shrink = 0;
    bool shrunk = false;
    Outcome outcome = Outcome::no_violation;
  };

  bool go_on(Pauses* pauses, double target, Index steps, double offset, double high, double low) {
    pauses->shrunk = false;
    if (steps >= options_.steps || (steps % kLookEvery == 0 && stop_.now())) {
      pauses->outcome = steps >= options_.steps ? Outcome::out_of_steps : Outcome::stopped;
      return false;
    }
    if (--pauses->to_check <= 0) {
      pauses->to_check = check_every();
      if (active_gap(offset) <= target) {
        pauses->outcome = Outcome::gap_reached;
        return false;
      }
    }
    if (--pauses->to_shrink <= 0) {
      pauses->shrunk = shrink(high, low);
      pauses->to_shrink = shrink_every();
    }
    return true;
  }

  Index check_every() const { return std::max<Index>(kLookEvery, Index(index_.size()) / 8); }

  Index shrink_every() const { return std::min<Index>(kShrinkEvery, Index(index_.size())); }

  Outcome iterate(double target, Index* steps) {
    if (index_.empty()) {
      return Outcome::no_violation;
    }
    Pauses pauses{check_every(), shrink_every()};
    Extremes at = extremes();
    while (at.up > at.down) {
      if (!go_on(&pauses, target, *steps, offset_of(at), at.up, at.down)) {
        return pauses.outcome;
      }
      if (pauses.shrunk) {
        at = extremes();
      }
      const Index i = at.highest;
      const T* x = row(i);
      const Index j = best_partner(at.up, d_[i], x, f_.data(), down_.data(), d_.data(), width_);
      if (j < 0) {
        return Outcome::no_violation;
      }
      const T* z = row(j);
      const double step = step_pair(i, j, double(x[j]), at.up);
      ++*steps;
      at = move_pair(step, x, -step, z, up_.data(), down_.data(), f_.data(), width_);
    }
    return Outcome::no_violation;
  }

  double offset_of(const Extremes& at) const {
    return problem_.constrained ? at.up / 2 + at.down / 2 : 0.0;
  }

  Extremes extremes() {
    return move_pair(0.0, nothing_.data(), 0.0, nothing_.data(), up_.data(), down_.data(),
                     f_.data(), width_);
  }

  // Raise beta_i and lower beta_j by the same, as far as the model and the box say.
  double step_pair(Index k, Index l, double between, double highest) {
    const double sum = diagonal(k) + diagonal(l);
    const double curvature = std::max(sum - 2.0 * between, kLeastCurvature * sum);
    const double room_k = idle(k) ? kInfinity : room(index_[k], 1);
    const double room_l = idle(l) ? kInfinity : room(index_[l], -1);
    double step = std::min(room_k, room_l);
    const double slope = highest - (f_[l] + down_[l]);
    if (slope < step * curvature) {
      step = slope / curvature;
    }
    settle(k, 1, step, room_k);
    settle(l, -1, step, room_l);
    return step;
  }

  double diagonal(Index k) const { return idle(k) ? 0.0 : diagonal_[index_[k]]; }

  void settle(Index k, int direction, double step, double most) {
    if (!idle(k)) {
      move(index_[k], direction, step, most);
      set_bounds(k);
    }
  }

  // --- gaps and residuals --------------------------------------------------------------------

  double active_gap(double offset) const {
    double gap = 0.0;
    for (std::size_t k = 0; k < index_.size(); ++k) {
      const Index i = index_[k];
      gap += gap_term(f_[k] - offset, beta_[i], lower_[i], upper_[i], problem_.tube);
    }
    return gap;
  }

  double full_gap(double offset) const {
    double gap = 0.0;
    for (Index i = 0; i < n_; ++i) {
      gap += gap_term(residual_[i] - offset, beta_[i], lower_[i], upper_[i], problem_.tube);
    }
    return gap;
  }

  // Bring the residuals of all rows up to date.
  void finish_round() {
    store();
    if (options_.exact) {
      recompute();
    } else if (!whole_) {
      refresh_inactive();
    }
  }

  std::vector<Index> support() const {
    std::vector<Index> rows;
    for (Index i = 0; i < n_; ++i) {
      if (beta_[i] != 0.0) {
        rows.push_back(i);
      }
    }
    return rows;
  }

  // t - K beta in double precision, for all rows, without a memory of the steps.
  void recompute() {
    std::vector<Index> all(n_);
    for (Index i = 0; i < n_; ++i) {
      all[i] = i;
    }
    const std::unique_ptr<Panel<double>> panel = make_panel<double>(table_, all.data(), n_);
    subtract_from_target(*panel, all);
  }

  void refresh_inactive() {
    std::vector<char> active(n_, 0);
    for (const Index i : index_) {
      active[i] = 1;
    }
    std::vector<Index> others;
    for (Index i = 0; i < n_; ++i) {
      if (!active[i]) {
        others.push_back(i);
      }
    }
    if (shared_ != nullptr) {
      refresh_from_shared(active);
    } else {
      const auto panel = make_panel<T>(table_, others.data(), Index(others.size()));
      subtract_from_target(*panel, others);
    }
  }

  template <class S>
  void subtract_from_target(const Panel<S>& panel, const std::vector<Index>& rows) {
    const std::vector<Index> from = support();
    const Index count = Index(rows.size());
    constexpr Index grain = 8 * Panel<S>::grain;
    const auto body = [&](Index begin, Index end, int) {
      std::vector<S> entries(end - begin);
      std::vector<double> sum(end - begin, 0.0);
      Index seen = 0;
      for (const Index j : from) {
        if (++seen % kLookEvery == 0 && stop_.requested()) {
          return;  // Whoever asked gets the residuals of before, and a larger gap than is true.
        }
        panel.row(j, begin, end, entries.data());
        for (Index k = 0; k < end - begin; ++k) {
          sum[k] += beta_[j] * double(entries[k]);
        }
      }
      for (Index k = begin; k < end; ++k) {
        residual_[rows[k]] = problem_.target[rows[k]] - sum[k - begin];
      }
    };
    parallel_for(count, grain, options_.threads, body);
  }

  void refresh_from_shared(const std::vector<char>& active) {
    const std::vector<Index> from = support();
    std::vector<double> sum(n_, 0.0);
    for (const Index j : from) {
      const T* entries = shared_->row(j);
      const double b = beta_[j];
      for (Index k = 0; k < n_; ++k) {
        sum[k] += b * double(entries[k]);
      }
    }
    for (Index i = 0; i < n_; ++i) {
      if (!active[i]) {
        residual_[i] = problem_.target[i] - sum[i];
      }
    }
  }

  // --- from one strength to the next ---------------------------------------------------------

  // Of all multiples of the last solution that the new box holds, the best one.
  void rescale(double strength, double before) {
    if (!(before > 0.0)) {
      return;
    }
    const double most = strength / before;
    double linear = 0.0;
    double square = 0.0;
    for (Index i = 0; i < n_; ++i) {
      linear += beta_[i] * problem_.target[i] - problem_.tube * std::abs(beta_[i]);
      square += beta_[i] * (problem_.target[i] - residual_[i]);
    }
    double factor = square > 0.0 ? linear / square : 1.0;
    factor = std::min(std::max(factor, std::min(1.0, most)), most);
    for (Index i = 0; i < n_; ++i) {
      beta_[i] = snapped(factor * beta_[i], lower_[i], upper_[i]);
      residual_[i] = problem_.target[i] - factor * (problem_.target[i] - residual_[i]);
    }
  }

  // A coefficient that was at its bound is to be at the new one, to the last bit.
  static double snapped(double b, double lower, double upper) {
    constexpr double rounding = 1e-14;
    if (b >= (1.0 - rounding) * upper && upper > 0.0) {
      return upper;
    }
    return b <= (1.0 - rounding) * lower && lower < 0.0 ? lower : b;
  }

  const KernelTable& table_;
  SharedRows<T>* shared_;
  const SmoProblem problem_;
  const SmoOptions options_;
  const Stop& stop_;
  const Index n_;
  RowCache<T> cache_;
  std::vector<double> lower_;
  std::vector<double> upper_;
  std::vector<double> diagonal_;
  std::vector<double> beta_;
  std::vector<double> residual_;

  std::vector<Index> index_;  // the active rows, ascending
  bool whole_ = false;        // all rows are active
  Index width_ = 0;
  std::vector<double> f_;
  std::vector<double> up_;
  std::vector<double> down_;
  std::vector<float> d_;
  std::vector<T> nothing_;  // a row of zeros
  std::unique_ptr<Panel<T>> panel_;
};

}  // namespace

template <class T>
Index smo_path(const KernelTable& table, SharedRows<T>* shared, const SmoProblem& problem,
               const double* strengths, Index count, const SmoOptions& options, const double* start,
               double* beta, double* residual, SmoSolution* solutions, const Stop& stop) {
  const Index n = table.size();
  Smo<T> smo(table, shared, problem, options, stop);
  if (start != nullptr) {
    smo.start(start);
  }
  Index k = 0;
  for (double before = 0.0; k < count; ++k) {
    if (k > 0 && stop.now()) {
      break;
    }
    solutions[k] = smo.solve(strengths[k], before);
    before = strengths[k];
    std::copy(smo.beta().begin(), smo.beta().end(), beta + k * n);
    std::copy(smo.residual().begin(), smo.residual().end(), residual + k * n);
  }
  return k;
}

template Index smo_path(const KernelTable&, SharedRows<float>*, const SmoProblem&, const double*,
                        Index, const SmoOptions&, const double*, double*, double*, SmoSolution*,
                        const Stop&);
template Index smo_path(const KernelTable&, SharedRows<double>*, const SmoProblem&, const double*,
                        Index, const SmoOptions&, const double*, double*, double*, SmoSolution*,
                        const Stop&);

}  // namespace tikhon
