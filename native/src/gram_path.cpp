#include "tikhon/gram_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tikhon/cholesky.hpp"
#include "tikhon/vector_ops.hpp"

namespace tikhon {
namespace {

constexpr double kPivotFloor =
    1e-14;  // of the diagonal: below, a column is a combination of others
constexpr double kAliasedPivot = 1e-11;  // of the diagonal: an unpenalised one is then left alone
constexpr Index kRounds = 400;           // exchanges at one strength before descent takes over
constexpr Index kSweeps = 2000;
constexpr double kRefactor = 0.7;  // ratio of strengths up to which a factor serves another
constexpr double kSystemAccuracy = 1e-24;
constexpr int kSystemSteps = 40;

struct Candidate {
  Index j;
  double gain;
  double sign;
};

class Solver {
 public:
  Solver(const GramProblem& problem, const CoordinatePenalty& penalty, GramAccuracy accuracy,
         double* w, const Stop& stop)
      : problem_(problem),
        penalty_(penalty),
        accuracy_(accuracy),
        stop_(stop),
        w_(w),
        g_(static_cast<std::size_t>(problem.size)),
        place_(static_cast<std::size_t>(problem.size), -1),
        strongly_convex_(
            std::any_of(penalty.l2, penalty.l2 + problem.size, [](double q) { return q > 0.0; })) {
    for (Index j = 0; j < problem.size; ++j) {
      w_[j] = std::min(std::max(w_[j], penalty.lower[j]), penalty.upper[j]);
    }
  }

  PathStatus solve(double lam) {
    const bool first = lam_ < 0.0;
    lam_ = lam;
    if (first) {
      factored_ = lam;
      set_free_what_is_off_its_ends();
      compute_gradient();
    } else if (strongly_convex_ && !near(lam, factored_)) {
      factored_ = lam;
      factorise();
    }
    for (Index round = 0; round < kRounds; ++round) {
      if (stop_.now()) {
        return PathStatus::stopped;
      }
      newton();
      compute_gradient();
      if (!refined()) {
        continue;
      }
      if (!admit()) {
        return PathStatus::converged;
      }
    }
    return descend();
  }

 private:
  Coordinate coordinate(Index j) const { return Coordinate::of(penalty_, j, lam_); }
  const double* row(Index j) const { return problem_.K + j * problem_.stride; }
  double diagonal(Index j) const { return row(j)[j]; }
  double tolerance(double a) const { return accuracy_.relative * a + accuracy_.absolute; }

  // Minus the slope of the objective at a free coordinate, along the side it is on.
  double slope(Index k) const {
    const Index j = free_[k];
    const Coordinate at = coordinate(j);
    return g_[j] - at.q * w_[j] - at.a * sign_[k];
  }

  void compute_gradient() {
    std::copy(problem_.c, problem_.c + problem_.size, g_.begin());
    double factors[4];
    const double* rows[4];
    Index held = 0;
    for (Index j = 0; j < problem_.size; ++j) {
      if (w_[j] != 0.0) {
        factors[held] = -w_[j];
        rows[held++] = row(j);
        if (held == 4) {
          axpy4(factors, rows, g_.data(), problem_.size);
          held = 0;
        }
      }
    }
    for (Index k = 0; k < held; ++k) {
      axpy(factors[k], rows[k], g_.data(), problem_.size);
    }
  }

  // Append a coordinate to the factor, or tell that it depends on those that are there.
  bool set_free(Index j, double sign, bool alone) {
    const Coordinate at = coordinate(j);
    const double own = diagonal(j) + factored_ * penalty_.l2[j];
    if (!(own > 0.0)) {
      return false;
    }
    gathered_.resize(free_.size());
    for (std::size_t k = 0; k < free_.size(); ++k) {
      gathered_[k] = row(j)[free_[k]];
    }
    const double pivot = factor_.append(gathered_.data(), own, kPivotFloor * own);
    const bool dependent = pivot < kAliasedPivot * own;
    if (dependent && (at.a == 0.0 || !alone)) {
      factor_.remove(factor_.size() - 1);
      return false;
    }
    place_[j] = static_cast<Index>(free_.size());
    free_.push_back(j);
    sign_.push_back(at.a > 0.0 ? sign : 0.0);
    return true;
  }

  void hold(Index k) {
    place_[free_[k]] = -1;
    factor_.remove(k);
    free_.erase(free_.begin() + k);
    sign_.erase(sign_.begin() + k);
    for (std::size_t i = k; i < free_.size(); ++i) {
      place_[free_[i]] = static_cast<Index>(i);
    }
  }

  void factorise() {
    const std::vector<Index> kept = free_;
    const std::vector<double> signs = sign_;
    release_all();
    for (std::size_t k = 0; k < kept.size(); ++k) {
      set_free(kept[k], signs[k], false);
    }
  }

  void release_all() {
    for (const Index j : free_) {
      place_[j] = -1;
    }
    free_.clear();
    sign_.clear();
    factor_.clear();
  }

  void set_free_what_is_off_its_ends() {
    release_all();
    for (Index j = 0; j < problem_.size; ++j) {
      const Coordinate at = coordinate(j);
      const bool at_kink = w_[j] == 0.0 && at.a > 0.0;
      if (!at_kink && w_[j] > at.lower && w_[j] < at.upper) {
        set_free(j, w_[j] < 0.0 ? -1.0 : 1.0, false);
      }
    }
  }

  // The ends between which a free coordinate may move without the objective changing its form.
  void ends(Index k, double& low, double& high) const {
    const Coordinate at = coordinate(free_[k]);
    low = sign_[k] > 0.0 ? std::max(at.lower, 0.0) : at.lower;
    high = sign_[k] < 0.0 ? std::min(at.upper, 0.0) : at.upper;
  }

  // Solve for the free coordinates; those that meet an end on the way are held there.
  void newton() {
    step_.resize(free_.size());
    for (std::size_t k = 0; k < free_.size(); ++k) {
      step_[k] = slope(static_cast<Index>(k));
    }
    right_ = step_;
    while (!free_.empty()) {
      solve_system(step_);
      const double share = longest_share();
      for (std::size_t k = 0; k < free_.size(); ++k) {
        double low = 0.0;
        double high = 0.0;
        ends(static_cast<Index>(k), low, high);
        double& w = w_[free_[k]];
        w = std::min(std::max(w + share * step_[k], low), high);
      }
      if (share == 1.0) {
        return;
      }
      // What is left of the right-hand side after a part of an exact step is the same part of it.
      for (Index k = static_cast<Index>(free_.size()) - 1; k >= 0; --k) {
        if (blocked_[k]) {
          hold(k);
          right_.erase(right_.begin() + k);
        }
      }
      for (double& r : right_) {
        r *= 1.0 - share;
      }
      step_ = right_;
    }
  }

  static bool near(double lam, double other) {
    return lam >= kRefactor * other && other >= kRefactor * lam;
  }

  // x <- (K_FF + diag(q))^-1 x. The squares of the penalty grow with the strength, the factor does
  // not follow each of them: conjugate gradients make up the difference in a few steps.
  void solve_system(std::vector<double>& x) {
    if (!strongly_convex_ || lam_ == factored_) {
      factor_.solve(x.data());
      return;
    }
    const Index size = static_cast<Index>(x.size());
    std::vector<double> left = x;
    std::vector<double> solved(x.size(), 0.0);
    std::vector<double> preconditioned = left;
    factor_.solve(preconditioned.data());
    std::vector<double> direction = preconditioned;
    double energy = dot(left.data(), preconditioned.data(), size);
    const double enough = energy * kSystemAccuracy;
    for (int step = 0; step < kSystemSteps && energy > enough; ++step) {
      const std::vector<double>& image = multiplied(direction);
      const double length = energy / dot(direction.data(), image.data(), size);
      axpy(length, direction.data(), solved.data(), size);
      axpy(-length, image.data(), left.data(), size);
      preconditioned = left;
      factor_.solve(preconditioned.data());
      const double next = dot(left.data(), preconditioned.data(), size);
      for (std::size_t k = 0; k < x.size(); ++k) {
        direction[k] = preconditioned[k] + next / energy * direction[k];
      }
      energy = next;
    }
    x = solved;
  }

  // (K_FF + diag(q)) v, by whole rows: gathering a submatrix would touch as much memory.
  const std::vector<double>& multiplied(const std::vector<double>& v) {
    long_.assign(static_cast<std::size_t>(problem_.size), 0.0);
    for (std::size_t k = 0; k < v.size(); ++k) {
      axpy(v[k], row(free_[k]), long_.data(), problem_.size);
    }
    image_.resize(v.size());
    for (std::size_t k = 0; k < v.size(); ++k) {
      image_[k] = long_[free_[k]] + lam_ * penalty_.l2[free_[k]] * v[k];
    }
    return image_;
  }

  // The largest share of the step that crosses no end; marks the coordinates that limit it.
  double longest_share() {
    const std::size_t size = free_.size();
    room_.assign(size, 1.0);
    blocked_.assign(size, false);
    double share = 1.0;
    for (std::size_t k = 0; k < size; ++k) {
      double low = 0.0;
      double high = 0.0;
      ends(static_cast<Index>(k), low, high);
      const double w = w_[free_[k]];
      const double target = w + step_[k];
      if (target < low) {
        room_[k] = std::max(w - low, 0.0) / -step_[k];
      } else if (target > high) {
        room_[k] = std::max(high - w, 0.0) / step_[k];
      } else {
        continue;
      }
      blocked_[k] = true;
      share = std::min(share, room_[k]);
    }
    for (std::size_t k = 0; k < size; ++k) {
      blocked_[k] = blocked_[k] && room_[k] <= share;
      if (blocked_[k]) {
        // Land on the end exactly, so that a zero is a zero.
        double low = 0.0;
        double high = 0.0;
        ends(static_cast<Index>(k), low, high);
        w_[free_[k]] = step_[k] < 0.0 ? low : high;
        step_[k] = 0.0;
      }
    }
    return std::any_of(blocked_.begin(), blocked_.end(), [](bool b) { return b; }) ? share : 1.0;
  }

  // Whether the free coordinates solve their equations on the gradient computed afresh.
  bool refined() {
    double worst = 0.0;
    for (std::size_t k = 0; k < free_.size(); ++k) {
      const double left = std::abs(slope(static_cast<Index>(k)));
      worst = std::max(worst, left / tolerance(coordinate(free_[k]).a));
    }
    const bool hopeless = worst > 1.0 && worst > 0.5 * unrefined_;
    unrefined_ = worst;
    if (worst <= 1.0 || hopeless) {
      unrefined_ = std::numeric_limits<double>::infinity();
      return true;
    }
    return false;
  }

  // Set the worst of the held coordinates free; false when none wants to move.
  bool admit() {
    candidates_.clear();
    for (Index j = 0; j < problem_.size; ++j) {
      if (place_[j] >= 0) {
        continue;
      }
      const Coordinate at = coordinate(j);
      const double h = g_[j] - at.q * w_[j];
      const double up = at.gain_up(w_[j], h);
      const double down = at.gain_down(w_[j], h);
      if (std::max(up, down) > tolerance(at.a)) {
        const bool rises = up >= down;
        const double sign = rises ? (w_[j] >= 0.0 ? 1.0 : -1.0) : (w_[j] <= 0.0 ? -1.0 : 1.0);
        candidates_.push_back({j, std::max(up, down), sign});
      }
    }
    const auto worse = [](const Candidate& a, const Candidate& b) {
      return a.gain > b.gain || (a.gain == b.gain && a.j < b.j);
    };
    const std::size_t most = 8 + free_.size() / 4;
    if (candidates_.size() > most) {
      std::nth_element(candidates_.begin(), candidates_.begin() + most, candidates_.end(), worse);
      candidates_.resize(most);
    }
    std::sort(candidates_.begin(), candidates_.end(), worse);
    bool any = false;
    for (const Candidate& candidate : candidates_) {
      any = set_free(candidate.j, candidate.sign, !any) || any;
    }
    return any;
  }

  // Cyclic coordinate descent on all coordinates: slower, and sure.
  PathStatus descend() {
    bool settled = false;
    for (Index sweep = 0; sweep < kSweeps; ++sweep) {
      double worst = 0.0;
      for (Index j = 0; j < problem_.size; ++j) {
        const double own = diagonal(j);
        const Coordinate at = coordinate(j);
        if (!(own + at.q > 0.0)) {
          continue;
        }
        const double moved = at.minimiser(g_[j] + own * w_[j], own) - w_[j];
        if (moved != 0.0) {
          w_[j] += moved;
          axpy(-moved, row(j), g_.data(), problem_.size);
          worst = std::max(worst, std::abs(moved) * (own + at.q) / tolerance(at.a));
        }
      }
      settled = worst <= 1.0;
      if (settled || stop_.now()) {
        break;
      }
    }
    compute_gradient();
    set_free_what_is_off_its_ends();
    if (settled) {
      return PathStatus::converged;
    }
    return stop_.now() ? PathStatus::stopped : PathStatus::stalled;
  }

  const GramProblem problem_;
  const CoordinatePenalty penalty_;
  const GramAccuracy accuracy_;
  const Stop& stop_;
  double* const w_;
  std::vector<double> g_;     // c - K w
  std::vector<Index> place_;  // position among the free coordinates, -1 for held ones
  const bool strongly_convex_;
  double lam_ = -1.0;
  double factored_ = 0.0;  // the strength whose squares are in the factor
  double unrefined_ = std::numeric_limits<double>::infinity();
  std::vector<Index> free_;
  std::vector<double> sign_;  // the side of 0 a free coordinate is on; 0 where there is no kink
  Cholesky factor_;           // of K + diag(q) over the free coordinates
  std::vector<double> gathered_;
  std::vector<double> long_;
  std::vector<double> image_;
  std::vector<double> step_;
  std::vector<double> right_;
  std::vector<double> room_;
  std::vector<bool> blocked_;
  std::vector<Candidate> candidates_;
};

}  // namespace

Index gram_path(const GramProblem& problem, const CoordinatePenalty& penalty, const double* lams,
                Index count, GramAccuracy accuracy, double* w, double* out, int* status,
                const Stop& stop) {
  Solver solver(problem, penalty, accuracy, w, stop);
  Index solved = 0;
  bool stopped = false;
  for (Index k = 0; k < count; ++k) {
    if (!stopped) {
      const PathStatus ended = solver.solve(lams[k]);
      stopped = ended == PathStatus::stopped;
      solved += stopped ? 0 : 1;
      status[k] = static_cast<int>(ended);
    } else {
      status[k] = static_cast<int>(PathStatus::stopped);
    }
    std::copy(w, w + problem.size, out + k * problem.size);
  }
  return solved;
}

}  // namespace tikhon
