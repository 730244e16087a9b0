#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tikhon/kernel_table.hpp"

namespace tikhon {
namespace {

template <class I>
struct Rows {
  const double* values;
  const I* columns;
  const I* starts;
  Index n;
  Index d;
};

// What is known of a row by itself: its squared or absolute norm, as the kernel asks.
template <class I>
double row_norm(const Rows<I>& X, Index i, KernelKind kind) {
  double norm = 0.0;
  for (Index e = X.starts[i]; e < X.starts[i + 1]; ++e) {
    norm += kind == KernelKind::laplacian ? std::abs(X.values[e]) : X.values[e] * X.values[e];
  }
  return norm;
}

double finish(const KernelFunction& k, double sum) {
  switch (k.kind) {
    case KernelKind::linear:
      return sum + k.plus;
    case KernelKind::polynomial: {
      double base = k.gamma * sum + k.coef0;
      double result = 1.0;
      for (int e = k.degree; e > 0; e >>= 1, base *= base) {
        if (e & 1) {
          result *= base;
        }
      }
      return result + k.plus;
    }
    case KernelKind::rbf:
    case KernelKind::laplacian:
      break;
  }
  return std::exp(-k.gamma * sum) + k.plus;
}

// One dense row for each thread, zero between calls: the row x_i is spread over it.
double* scratch(Index d) {
  thread_local std::vector<double> row;
  if (Index(row.size()) < d) {
    row.assign(d, 0.0);
  }
  return row.data();
}

template <class T, class I>
class SparsePanel final : public Panel<T> {
 public:
  SparsePanel(const Rows<I>& X, const std::vector<double>& norms, const KernelFunction& k,
              const Index* chosen, Index count)
      : X_(X), norms_(norms), k_(k), chosen_(chosen, chosen + count) {}

  void row(Index i, Index begin, Index end, T* out) const override {
    double* x = scratch(X_.d);
    for (Index e = X_.starts[i]; e < X_.starts[i + 1]; ++e) {
      x[X_.columns[e]] = X_.values[e];
    }
    for (Index c = begin; c < end; ++c) {
      const Index r = chosen_[c];
      out[c - begin] = T(finish(k_, between(i, r, x)));
    }
    for (Index e = X_.starts[i]; e < X_.starts[i + 1]; ++e) {
      x[X_.columns[e]] = 0.0;
    }
  }

 private:
  double between(Index i, Index r, const double* x) const {
    double sum = 0.0;
    if (k_.kind == KernelKind::laplacian) {
      for (Index e = X_.starts[r]; e < X_.starts[r + 1]; ++e) {
        const double at = x[X_.columns[e]];
        sum += std::abs(X_.values[e] - at) - std::abs(at);
      }
      return i == r ? 0.0 : std::max(0.0, norms_[i] + sum);
    }
    for (Index e = X_.starts[r]; e < X_.starts[r + 1]; ++e) {
      sum += X_.values[e] * x[X_.columns[e]];
    }
    if (k_.kind == KernelKind::rbf) {
      return i == r ? 0.0 : std::max(0.0, (norms_[i] + norms_[r]) - 2.0 * sum);
    }
    return sum;
  }

  Rows<I> X_;
  const std::vector<double>& norms_;
  KernelFunction k_;
  std::vector<Index> chosen_;
};

template <class I>
class SparseKernel final : public KernelTable {
 public:
  SparseKernel(Rows<I> X, KernelFunction k) : X_(X), k_(k), norms_(X.n) {
    for (Index i = 0; i < X.n; ++i) {
      norms_[i] = row_norm(X, i, k.kind);
    }
  }

  Index size() const override { return X_.n; }

  double diagonal(Index i) const override {
    const bool distance = k_.kind == KernelKind::rbf || k_.kind == KernelKind::laplacian;
    return finish(k_, distance ? 0.0 : norms_[i]);
  }

  std::unique_ptr<Panel<float>> panel32(const Index* chosen, Index count) const override {
    return std::make_unique<SparsePanel<float, I>>(X_, norms_, k_, chosen, count);
  }

  std::unique_ptr<Panel<double>> panel64(const Index* chosen, Index count) const override {
    return std::make_unique<SparsePanel<double, I>>(X_, norms_, k_, chosen, count);
  }

 private:
  Rows<I> X_;
  KernelFunction k_;
  std::vector<double> norms_;
};

}  // namespace

template <class I>
std::unique_ptr<KernelTable> sparse_kernel(const double* values, const I* columns, const I* starts,
                                           Index n, Index d, KernelFunction k) {
  return std::make_unique<SparseKernel<I>>(Rows<I>{values, columns, starts, n, d}, k);
}

template std::unique_ptr<KernelTable> sparse_kernel(const double*, const std::int32_t*,
                                                    const std::int32_t*, Index, Index,
                                                    KernelFunction);
template std::unique_ptr<KernelTable> sparse_kernel(const double*, const std::int64_t*,
                                                    const std::int64_t*, Index, Index,
                                                    KernelFunction);

}  // namespace tikhon
