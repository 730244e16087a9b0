// Tables as dual coordinate descent sees them: one row at a time.
#pragma once

#include "tikhon/matrix.hpp"
#include "tikhon/multiversion.hpp"

namespace tikhon {

// Compressed sparse rows that belong to somebody else.
template <class T, class I>
struct SparseRows {
  const T* values;
  const I* columns;
  const I* starts;  // n + 1
  Index n;
  Index d;

  // x_i . v
  double dot(Index i, const double* v) const {
    const Index end = starts[i + 1];
    double even = 0.0;
    double odd = 0.0;
    Index k = starts[i];
    for (; k + 2 <= end; k += 2) {
      even += double(values[k]) * v[columns[k]];
      odd += double(values[k + 1]) * v[columns[k + 1]];
    }
    if (k < end) {
      even += double(values[k]) * v[columns[k]];
    }
    return even + odd;
  }

  // v += a x_i
  void add(Index i, double a, double* v) const {
    const Index end = starts[i + 1];
    for (Index k = starts[i]; k < end; ++k) {
      v[columns[k]] += a * double(values[k]);
    }
  }

  double square(Index i) const {
    double sum = 0.0;
    for (Index k = starts[i]; k < starts[i + 1]; ++k) {
      sum += double(values[k]) * double(values[k]);
    }
    return sum;
  }
};

// Rows of a dense matrix, each a run of memory, minus a shift that keeps large means away.
template <class T>
struct DenseRows {
  const T* values;
  Index stride;         // from row to row
  const double* shift;  // one for each column
  Index n;
  Index d;

  double dot(Index i, const double* v) const {
    double result = 0.0;
    multiversion<Dot>(values + i * stride, shift, v, d, &result);
    return result;
  }

  void add(Index i, double a, double* v) const {
    multiversion<Add>(values + i * stride, shift, a, v, d);
  }

  double square(Index i) const {
    double sum = 0.0;
    for (Index j = 0; j < d; ++j) {
      const double x = double(values[i * stride + j]) - shift[j];
      sum += x * x;
    }
    return sum;
  }

 private:
  struct Dot {
    template <Isa isa>
    TIKHON_INLINE static void run(const T* TIKHON_RESTRICT x, const double* TIKHON_RESTRICT shift,
                                  const double* TIKHON_RESTRICT v, Index d, double* result) {
      constexpr Index lanes = 16;
      double lane[lanes] = {};
      Index j = 0;
      for (; j + lanes <= d; j += lanes) {
        for (Index l = 0; l < lanes; ++l) {
          lane[l] += (double(x[j + l]) - shift[j + l]) * v[j + l];
        }
      }
      for (Index l = 0; j < d; ++j, ++l) {
        lane[l] += (double(x[j]) - shift[j]) * v[j];
      }
      double total = 0.0;
      for (Index l = 0; l < lanes; ++l) {
        total += lane[l];
      }
      *result = total;
    }
  };

  struct Add {
    template <Isa isa>
    TIKHON_INLINE static void run(const T* TIKHON_RESTRICT x, const double* TIKHON_RESTRICT shift,
                                  double a, double* TIKHON_RESTRICT v, Index d) {
      for (Index j = 0; j < d; ++j) {
        v[j] += a * (double(x[j]) - shift[j]);
      }
    }
  };
};

}  // namespace tikhon
