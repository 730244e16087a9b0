// Tables as coordinate descent sees them: one column at a time.
#pragma once

#include "tikhon/matrix.hpp"
#include "tikhon/multiversion.hpp"

namespace tikhon {

// Compressed sparse columns that belong to somebody else.
template <class T, class I>
struct SparseColumns {
  const T* values;
  const I* rows;
  const I* starts;  // count + 1
  Index n;
  Index count;

  // sum_i x_ij q_i
  double dot(Index j, const double* q) const {
    const Index end = starts[j + 1];
    double even = 0.0;
    double odd = 0.0;
    Index k = starts[j];
    for (; k + 2 <= end; k += 2) {
      even += double(values[k]) * q[rows[k]];
      odd += double(values[k + 1]) * q[rows[k + 1]];
    }
    if (k < end) {
      even += double(values[k]) * q[rows[k]];
    }
    return even + odd;
  }

  // q_i -= a p_i x_ij
  void subtract(Index j, double a, const double* p, double* q) const {
    const Index end = starts[j + 1];
    for (Index k = starts[j]; k < end; ++k) {
      q[rows[k]] -= a * p[rows[k]] * double(values[k]);
    }
  }
};

// Columns of a dense matrix, each a run of memory, minus a shift that keeps large means away.
template <class T>
struct DenseColumns {
  const T* values;
  Index stride;         // from column to column
  const double* shift;  // one for each column
  Index n;
  Index count;

  double dot(Index j, const double* q) const {
    double result = 0.0;
    multiversion<Dot>(values + j * stride, shift[j], q, n, &result);
    return result;
  }

  void subtract(Index j, double a, const double* p, double* q) const {
    multiversion<Subtract>(values + j * stride, shift[j], a, p, q, n);
  }

 private:
  struct Dot {
    template <Isa isa>
    TIKHON_INLINE static void run(const T* TIKHON_RESTRICT x, double shift,
                                  const double* TIKHON_RESTRICT q, Index n, double* result) {
      constexpr Index lanes = 16;
      double lane[lanes] = {};
      Index i = 0;
      for (; i + lanes <= n; i += lanes) {
        for (Index l = 0; l < lanes; ++l) {
          lane[l] += (double(x[i + l]) - shift) * q[i + l];
        }
      }
      for (Index l = 0; i < n; ++i, ++l) {
        lane[l] += (double(x[i]) - shift) * q[i];
      }
      double total = 0.0;
      for (Index l = 0; l < lanes; ++l) {
        total += lane[l];
      }
      *result = total;
    }
  };

  struct Subtract {
    template <Isa isa>
    TIKHON_INLINE static void run(const T* TIKHON_RESTRICT x, double shift, double a,
                                  const double* TIKHON_RESTRICT p, double* TIKHON_RESTRICT q,
                                  Index n) {
      for (Index i = 0; i < n; ++i) {
        q[i] -= a * p[i] * (double(x[i]) - shift);
      }
    }
  };
};

}  // namespace tikhon
