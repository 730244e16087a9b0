#include <algorithm>
#include <cmath>

#include "tikhon/exponential.hpp"
#include "tikhon/kernel_table.hpp"
#include "tikhon/multiversion.hpp"

namespace tikhon {
namespace {

constexpr int kLanes = 64;
static_assert(Panel<double>::grain % kLanes == 0);

template <class T>
T whole_power(T base, int exponent) {
  T result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base) {
    if (exponent & 1) {
      result *= base;
    }
  }
  return result;
}

// The sum over columns of what a kernel is made of, for kLanes rows z packed column by column:
// products, squared differences or absolute differences.
template <Isa isa, KernelKind kind, class T>
TIKHON_INLINE void accumulate(const T* TIKHON_RESTRICT x, const T* TIKHON_RESTRICT packed, Index d,
                              T* TIKHON_RESTRICT out) {
  constexpr int half = kLanes / 2;
  for (int part = 0; part < 2; ++part) {
    T sum[half] = {};
    const T* z = packed + part * half;
    for (Index j = 0; j < d; ++j, z += kLanes) {
      const T at = x[j];
      for (int l = 0; l < half; ++l) {
        if constexpr (kind == KernelKind::rbf) {
          const T difference = z[l] - at;
          sum[l] += difference * difference;
        } else if constexpr (kind == KernelKind::laplacian) {
          const T difference = z[l] - at;
          sum[l] += difference < T(0) ? -difference : difference;
        } else {
          sum[l] += z[l] * at;
        }
      }
    }
    for (int l = 0; l < half; ++l) {
      out[part * half + l] = sum[l];
    }
  }
}

template <class T, KernelKind kind>
struct Evaluate {
  template <Isa isa>
  TIKHON_INLINE static void run(const T* x, const T* packed, Index d, Index blocks,
                                const KernelFunction* k, T* out) {
    const T gamma = T(k->gamma);
    const T coef0 = T(k->coef0);
    const T plus = T(k->plus);
    for (Index block = 0; block < blocks; ++block) {
      T* row = out + block * kLanes;
      accumulate<isa, kind>(x, packed + block * kLanes * d, d, row);
      if constexpr (kind == KernelKind::rbf || kind == KernelKind::laplacian) {
        exp_lanes<kLanes>(-gamma, row);
      } else if constexpr (kind == KernelKind::polynomial) {
        for (int l = 0; l < kLanes; ++l) {
          row[l] = whole_power(gamma * row[l] + coef0, k->degree);
        }
      }
      for (int l = 0; l < kLanes; ++l) {
        row[l] += plus;
      }
    }
  }
};

template <class T>
void evaluate(const T* x, const T* packed, Index d, Index blocks, const KernelFunction& k, T* out) {
  switch (k.kind) {
    case KernelKind::linear:
      return multiversion<Evaluate<T, KernelKind::linear>>(x, packed, d, blocks, &k, out);
    case KernelKind::polynomial:
      return multiversion<Evaluate<T, KernelKind::polynomial>>(x, packed, d, blocks, &k, out);
    case KernelKind::rbf:
      return multiversion<Evaluate<T, KernelKind::rbf>>(x, packed, d, blocks, &k, out);
    case KernelKind::laplacian:
      return multiversion<Evaluate<T, KernelKind::laplacian>>(x, packed, d, blocks, &k, out);
  }
}

template <class T>
class DensePanel final : public Panel<T> {
 public:
  DensePanel(const double* X, Index d, const KernelFunction& k, const Index* chosen, Index count)
      : X_(X), d_(d), count_(count), k_(k), packed_(ceil_div(count, kLanes) * kLanes * d) {
    for (Index c = 0; c < count; ++c) {
      const double* row = X + chosen[c] * d;
      T* lane = packed_.data() + (c / kLanes) * kLanes * d + c % kLanes;
      for (Index j = 0; j < d; ++j) {
        lane[j * kLanes] = T(row[j]);
      }
    }
  }

  void row(Index i, Index begin, Index end, T* out) const override {
    std::vector<T> x(X_ + i * d_, X_ + (i + 1) * d_);
    const T* packed = packed_.data() + begin * d_;
    const Index whole = (end - begin) / kLanes;
    evaluate(x.data(), packed, d_, whole, k_, out);
    const Index rest = (end - begin) - whole * kLanes;
    if (rest > 0) {
      T last[kLanes];
      evaluate(x.data(), packed + whole * kLanes * d_, d_, 1, k_, last);
      std::copy_n(last, rest, out + whole * kLanes);
    }
  }

 private:
  const double* X_;
  Index d_;
  Index count_;
  KernelFunction k_;
  std::vector<T> packed_;
};

class DenseKernel final : public KernelTable {
 public:
  DenseKernel(const double* X, Index n, Index d, KernelFunction k) : X_(X), n_(n), d_(d), k_(k) {}

  Index size() const override { return n_; }

  double diagonal(Index i) const override {
    if (k_.kind == KernelKind::rbf || k_.kind == KernelKind::laplacian) {
      return 1.0 + k_.plus;
    }
    const double* x = X_ + i * d_;
    double square = 0.0;
    for (Index j = 0; j < d_; ++j) {
      square += x[j] * x[j];
    }
    if (k_.kind == KernelKind::polynomial) {
      square = whole_power(k_.gamma * square + k_.coef0, k_.degree);
    }
    return square + k_.plus;
  }

  std::unique_ptr<Panel<float>> panel32(const Index* chosen, Index count) const override {
    return std::make_unique<DensePanel<float>>(X_, d_, k_, chosen, count);
  }

  std::unique_ptr<Panel<double>> panel64(const Index* chosen, Index count) const override {
    return std::make_unique<DensePanel<double>>(X_, d_, k_, chosen, count);
  }

 private:
  const double* X_;
  Index n_;
  Index d_;
  KernelFunction k_;
};

}  // namespace

std::unique_ptr<KernelTable> dense_kernel(const double* X, Index n, Index d, KernelFunction k) {
  return std::make_unique<DenseKernel>(X, n, d, k);
}

template <>
std::unique_ptr<Panel<float>> make_panel(const KernelTable& table, const Index* chosen,
                                         Index count) {
  return table.panel32(chosen, count);
}

template <>
std::unique_ptr<Panel<double>> make_panel(const KernelTable& table, const Index* chosen,
                                          Index count) {
  return table.panel64(chosen, count);
}

}  // namespace tikhon
