#include "tikhon/group_descent.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tikhon/vector_ops.hpp"

namespace tikhon {
namespace {

constexpr int kInnerSteps = 30;
constexpr double kInnerAccuracy =
    1e-3;  // of the first step: the sweeps around take care of the rest

class Groups {
 public:
  Groups(const double* K, Index size, Index stride, Index targets, const GroupBlocks& blocks,
         double lam, double* W, double* G)
      : K_(K),
        size_(size),
        stride_(stride),
        targets_(targets),
        blocks_(blocks),
        lam_(lam),
        W_(W),
        G_(G) {}

  double update(Index group) {
    members_ = blocks_.members + blocks_.starts[group];
    length_ = blocks_.starts[group + 1] - blocks_.starts[group];
    const double curvature = blocks_.curvature[group];
    if (!(curvature > 0.0)) {
      return 0.0;
    }
    load();
    const double moved = minimise(group, curvature);
    if (moved > 0.0) {
      store();
    }
    return moved * curvature;
  }

 private:
  // The group's coefficients and correlations, target by target.
  void load() {
    const std::size_t entries = static_cast<std::size_t>(length_ * targets_);
    w_.resize(entries);
    g_.resize(entries);
    for (Index t = 0; t < targets_; ++t) {
      for (Index i = 0; i < length_; ++i) {
        w_[t * length_ + i] = W_[t * size_ + members_[i]];
        g_[t * length_ + i] = G_[t * size_ + members_[i]];
      }
    }
    before_ = w_;
  }

  // Proximal steps on the group's own problem; returns how far the coefficients went.
  double minimise(Index group, double curvature) {
    double first = 0.0;
    for (int step = 0; step < kInnerSteps; ++step) {
      const double length = proximal_step(group, curvature);
      if (length == 0.0 || length <= kInnerAccuracy * first) {
        break;
      }
      first = std::max(first, length);
      if (length_ == 1 && step == 0) {
        break;  // one column: the step was exact
      }
    }
    double squares = 0.0;
    for (std::size_t k = 0; k < w_.size(); ++k) {
      squares += (w_[k] - before_[k]) * (w_[k] - before_[k]);
    }
    return std::sqrt(squares);
  }

  double proximal_step(Index group, double curvature) {
    next_.resize(w_.size());
    double squares = 0.0;
    for (Index t = 0; t < targets_; ++t) {
      for (Index i = 0; i < length_; ++i) {
        const Index k = t * length_ + i;
        const double v = w_[k] + g_[k] / curvature;
        const double bound = lam_ * blocks_.l1[members_[i]] / curvature;
        next_[k] = v > bound ? v - bound : (v < -bound ? v + bound : 0.0);
        squares += next_[k] * next_[k];
      }
    }
    const double norm = std::sqrt(squares);
    const double shortened = norm - lam_ * blocks_.weight[group] / curvature;
    const double factor = shortened > 0.0 ? shortened / norm : 0.0;
    double moved = 0.0;
    for (std::size_t k = 0; k < w_.size(); ++k) {
      next_[k] *= factor;
      moved += (next_[k] - w_[k]) * (next_[k] - w_[k]);
    }
    for (Index t = 0; t < targets_; ++t) {
      for (Index j = 0; j < length_; ++j) {
        const double change = next_[t * length_ + j] - w_[t * length_ + j];
        if (change != 0.0) {
          const double* row = K_ + members_[j] * stride_;
          for (Index i = 0; i < length_; ++i) {
            g_[t * length_ + i] -= row[members_[i]] * change;
          }
        }
      }
    }
    w_.swap(next_);
    return std::sqrt(moved);
  }

  void store() {
    for (Index t = 0; t < targets_; ++t) {
      double factors[4];
      const double* rows[4];
      Index held = 0;
      double* g = G_ + t * size_;
      for (Index i = 0; i < length_; ++i) {
        const double change = w_[t * length_ + i] - before_[t * length_ + i];
        W_[t * size_ + members_[i]] = w_[t * length_ + i];
        if (change != 0.0) {
          factors[held] = -change;
          rows[held++] = K_ + members_[i] * stride_;
        }
        if (held == 4) {
          axpy4(factors, rows, g, size_);
          held = 0;
        }
      }
      for (Index k = 0; k < held; ++k) {
        axpy(factors[k], rows[k], g, size_);
      }
    }
  }

  const double* const K_;
  const Index size_;
  const Index stride_;
  const Index targets_;
  const GroupBlocks blocks_;
  const double lam_;
  double* const W_;
  double* const G_;
  const Index* members_ = nullptr;
  Index length_ = 0;
  std::vector<double> w_;
  std::vector<double> g_;
  std::vector<double> before_;
  std::vector<double> next_;
};

}  // namespace

double group_descent(const double* K, Index size, Index stride, Index targets,
                     const GroupBlocks& blocks, const Index* chosen, Index count, double lam,
                     int sweeps, double* W, double* G, const Stop& stop) {
  Groups groups(K, size, stride, targets, blocks, lam, W, G);
  double farthest = 0.0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    farthest = 0.0;
    for (Index k = 0; k < count; ++k) {
      farthest = std::max(farthest, groups.update(chosen[k]));
      if ((k & 63) == 63 && stop.now()) {
        return farthest;
      }
    }
    if (farthest == 0.0 || stop.now()) {
      break;
    }
  }
  return farthest;
}

}  // namespace tikhon
