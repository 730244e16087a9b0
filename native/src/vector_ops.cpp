#include "tikhon/vector_ops.hpp"

#include "tikhon/multiversion.hpp"

namespace tikhon {
namespace {

constexpr Index kLanes = 16;

struct Dot {
  template <Isa isa>
  TIKHON_INLINE static void run(const double* TIKHON_RESTRICT x, const double* TIKHON_RESTRICT y,
                                Index n, double* result) {
    double lane[kLanes] = {};
    Index i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (Index l = 0; l < kLanes; ++l) {
        lane[l] += x[i + l] * y[i + l];
      }
    }
    for (Index l = 0; i < n; ++i, ++l) {
      lane[l] += x[i] * y[i];
    }
    double total = 0.0;
    for (Index l = 0; l < kLanes; ++l) {
      total += lane[l];
    }
    *result = total;
  }
};

struct Axpy {
  template <Isa isa>
  TIKHON_INLINE static void run(double a, const double* TIKHON_RESTRICT x,
                                double* TIKHON_RESTRICT y, Index n) {
    for (Index i = 0; i < n; ++i) {
      y[i] += a * x[i];
    }
  }
};

struct Axpy4 {
  template <Isa isa>
  TIKHON_INLINE static void run(double a0, double a1, double a2, double a3,
                                const double* TIKHON_RESTRICT x0, const double* TIKHON_RESTRICT x1,
                                const double* TIKHON_RESTRICT x2, const double* TIKHON_RESTRICT x3,
                                double* TIKHON_RESTRICT y, Index n) {
    for (Index i = 0; i < n; ++i) {
      y[i] = (((y[i] + a0 * x0[i]) + a1 * x1[i]) + a2 * x2[i]) + a3 * x3[i];
    }
  }
};

struct Rotate {
  template <Isa isa>
  TIKHON_INLINE static void run(double c, double s, double* TIKHON_RESTRICT x,
                                double* TIKHON_RESTRICT y, Index n) {
    for (Index i = 0; i < n; ++i) {
      const double before = x[i];
      x[i] = c * before + s * y[i];
      y[i] = c * y[i] - s * before;
    }
  }
};

}  // namespace

double dot(const double* x, const double* y, Index n) {
  double result = 0.0;
  multiversion<Dot>(x, y, n, &result);
  return result;
}

void axpy(double a, const double* x, double* y, Index n) {
  multiversion<Axpy>(a, x, y, n);
}

void axpy4(const double* a, const double* const* x, double* y, Index n) {
  multiversion<Axpy4>(a[0], a[1], a[2], a[3], x[0], x[1], x[2], x[3], y, n);
}

void rotate(double c, double s, double* x, double* y, Index n) {
  multiversion<Rotate>(c, s, x, y, n);
}

}  // namespace tikhon
