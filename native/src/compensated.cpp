#include "tikhon/compensated.hpp"

#include <algorithm>
#include <vector>

#include "tikhon/blocks.hpp"
#include "tikhon/multiversion.hpp"
#include "tikhon/parallel.hpp"
#include "tikhon/prefetch.hpp"
#include "tikhon/transpose.hpp"

namespace tikhon {
namespace {

constexpr Index kLanes = 8;
constexpr Index kAhead = 8192;  // bytes between what is read and what is fetched

// The residual runs down columns, a block of rows at a time, so that vectors span rows. Columns
// that are not contiguous are first copied, a few at a time, into columns that are.
constexpr Index kResidualRows = 1024;
constexpr Index kCopyRows = 64;
constexpr Index kCopyColumns = 64;
constexpr Index kCopyStride = kCopyRows + kLanes;  // not a power of two: cache sets

// The correlation runs along rows, so that vectors span columns; rows are copied likewise.
constexpr Index kCorrelateRows = 128;
constexpr Index kCorrelateColumns = 64;

template <bool fma, bool shifted>
TIKHON_INLINE Pair term(double x, double c, Pair factor) {
  if constexpr (shifted) {
    return product<fma>(two_difference(x, c), factor);
  } else {
    const Pair main = two_product<fma>(x, factor.hi);
    return {main.hi, main.lo + x * factor.lo};
  }
}

// r -= (x - c) w for one column x.
template <bool fma, bool shifted, class T>
TIKHON_INLINE void subtract_column(const T* TIKHON_RESTRICT x, Index n, double c, Pair w,
                                   double* TIKHON_RESTRICT hi, double* TIKHON_RESTRICT lo) {
  for (Index i = 0; i < n; ++i) {
    const Pair sum = accumulate({hi[i], lo[i]}, negative(term<fma, shifted>(double(x[i]), c, w)));
    hi[i] = sum.hi;
    lo[i] = sum.lo;
  }
}

template <class T, bool shifted>
struct Residual {
  template <Isa isa>
  TIKHON_INLINE static void run(Matrix<T> X, const double* c, const double* y, ConstPairVector w,
                                Pair b, PairVector r) {
    constexpr bool fma = has_fma<isa>();
    for (Index i = 0; i < X.rows; ++i) {
      const Pair start = accumulate({y[i], 0.0}, negative(b));
      r.hi[i] = start.hi;
      r.lo[i] = start.lo;
    }
    if (X.row_stride == 1) {
      for (Index j = 0; j < X.columns; ++j) {
        if (j + 1 < X.columns) {
          prefetch(X.column(j + 1), X.rows);
        }
        subtract_column<fma, shifted>(X.column(j), X.rows, shifted ? c[j] : 0.0,
                                      Pair{w.hi[j], w.lo[j]}, r.hi, r.lo);
      }
      return;
    }
    double copy[kCopyColumns * kCopyStride];
    for (Index i = 0; i < X.rows; i += kCopyRows) {
      const Index count = std::min(kCopyRows, X.rows - i);
      for (Index first = 0; first < X.columns; first += kCopyColumns) {
        const Index last = std::min(first + kCopyColumns, X.columns);
        copy_columns<isa>(X.block(i, count, first, last - first), copy);
        const double* column = copy;
        for (Index j = first; j < last; ++j, column += kCopyStride) {
          subtract_column<fma, shifted>(column, count, shifted ? c[j] : 0.0, Pair{w.hi[j], w.lo[j]},
                                        r.hi + i, r.lo + i);
        }
      }
    }
  }

 private:
  template <Isa isa>
  TIKHON_INLINE static void copy_columns(Matrix<T> X, double* TIKHON_RESTRICT copy) {
    if (X.column_stride == 1) {
      for (Index i = 0; i < X.rows; ++i) {
        prefetch(X.row(i) + kCopyColumns, kCopyColumns);
      }
      copy_transposed<isa>(X.data, X.row_stride, X.columns, X.rows, copy, kCopyStride);
      return;
    }
    for (Index i = 0; i < X.rows; ++i) {
      const T* TIKHON_RESTRICT x = X.row(i);
      for (Index k = 0; k < X.columns; ++k) {
        copy[k * kCopyStride + i] = double(x[k * X.column_stride]);
      }
    }
  }
};

// q = s r for a block of rows, and the sum of q in lanes.
template <bool fma>
TIKHON_INLINE void weigh(Index n, const double* s, ConstPairVector r, PairVector q,
                         PairVector lanes) {
  for (Index i = 0; i < n; ++i) {
    Pair value{r.hi[i], r.lo[i]};
    if (s != nullptr) {
      value = product<fma>(value, {s[i], 0.0});
      value = quick_two_sum(value.hi, value.lo);
    }
    q.hi[i] = value.hi;
    q.lo[i] = value.lo;
  }
  for (Index i = 0; i < n; i += kLanes) {
    const Index width = std::min(kLanes, n - i);
    for (Index l = 0; l < width; ++l) {
      const Pair sum = accumulate({lanes.hi[l], lanes.lo[l]}, {q.hi[i + l], q.lo[i + l]});
      lanes.hi[l] = sum.hi;
      lanes.lo[l] = sum.lo;
    }
  }
}

// g += (x - c) q for one row x.
template <bool fma, bool shifted, class T>
TIKHON_INLINE void add_row(const T* TIKHON_RESTRICT x, Index d, const double* TIKHON_RESTRICT c,
                           Pair q, double* TIKHON_RESTRICT hi, double* TIKHON_RESTRICT lo) {
  for (Index j = 0; j < d; ++j) {
    const Pair sum =
        accumulate({hi[j], lo[j]}, term<fma, shifted>(double(x[j]), shifted ? c[j] : 0.0, q));
    hi[j] = sum.hi;
    lo[j] = sum.lo;
  }
}

// One task: the partial g of a block, and the partial sum of q.
template <class T, bool shifted>
struct Correlate {
  template <Isa isa>
  TIKHON_INLINE static void run(Matrix<T> X, const double* c, const double* s, ConstPairVector r,
                                PairVector g, Pair* total) {
    constexpr bool fma = has_fma<isa>();
    double lane_hi[kLanes] = {};
    double lane_lo[kLanes] = {};
    double q_hi[kCorrelateRows];
    double q_lo[kCorrelateRows];
    for (Index begin = 0; begin < X.rows; begin += kCorrelateRows) {
      const Index count = std::min(kCorrelateRows, X.rows - begin);
      weigh<fma>(count, s == nullptr ? nullptr : s + begin, {r.hi + begin, r.lo + begin},
                 {q_hi, q_lo}, {lane_hi, lane_lo});
      add_rows<isa>(X.block(begin, count, 0, X.columns), c, {q_hi, q_lo}, g);
    }
    Pair sum{0.0, 0.0};
    for (Index l = 0; l < kLanes; ++l) {
      sum = accumulate(sum, {lane_hi[l], lane_lo[l]});
    }
    *total = sum;
  }

 private:
  template <Isa isa>
  TIKHON_INLINE static void add_rows(Matrix<T> X, const double* c, ConstPairVector q,
                                     PairVector g) {
    constexpr bool fma = has_fma<isa>();
    if (X.column_stride == 1) {
      const Index ahead = 1 + kAhead / (Index{sizeof(T)} * std::max<Index>(1, X.columns));
      for (Index i = 0; i < X.rows; ++i) {
        if (i + ahead < X.rows) {
          prefetch(X.row(i + ahead), X.columns);
        }
        add_row<fma, shifted>(X.row(i), X.columns, c, Pair{q.hi[i], q.lo[i]}, g.hi, g.lo);
      }
      return;
    }
    double copy[kCorrelateRows * kCorrelateColumns];
    for (Index first = 0; first < X.columns; first += kCorrelateColumns) {
      const Index width = std::min(kCorrelateColumns, X.columns - first);
      copy_rows<isa>(X.block(0, X.rows, first, width), copy);
      for (Index i = 0; i < X.rows; ++i) {
        add_row<fma, shifted>(static_cast<const double*>(copy) + i * kCorrelateColumns, width,
                              shifted ? c + first : nullptr, Pair{q.hi[i], q.lo[i]}, g.hi + first,
                              g.lo + first);
      }
    }
  }

  template <Isa isa>
  TIKHON_INLINE static void copy_rows(Matrix<T> X, double* TIKHON_RESTRICT copy) {
    if (X.row_stride == 1) {
      for (Index k = 0; k < X.columns; ++k) {
        prefetch(X.column(k) + X.rows, X.rows);
      }
      copy_transposed<isa>(X.data, X.column_stride, X.rows, X.columns, copy, kCorrelateColumns);
      return;
    }
    for (Index first = 0; first < X.columns; first += kLanes) {
      const Index width = std::min(kLanes, X.columns - first);
      for (Index i = 0; i < X.rows; ++i) {
        const T* TIKHON_RESTRICT x = X.row(i) + first * X.column_stride;
        for (Index k = 0; k < width; ++k) {
          copy[i * kCorrelateColumns + first + k] = double(x[k * X.column_stride]);
        }
      }
    }
  }
};

}  // namespace

template <class T>
void residual_dd(Matrix<T> X, const double* c, const double* y, ConstPairVector w, Pair b,
                 PairVector r, int threads) {
  parallel_for(X.rows, kResidualRows, threads, [&](Index begin, Index end, int) {
    const Matrix<T> rows = X.block(begin, end - begin, 0, X.columns);
    const PairVector target{r.hi + begin, r.lo + begin};
    c != nullptr ? multiversion<Residual<T, true>>(rows, c, y + begin, w, b, target)
                 : multiversion<Residual<T, false>>(rows, c, y + begin, w, b, target);
  });
}

template <class T>
Pair correlate_dd(Matrix<T> X, const double* c, const double* s, ConstPairVector r, PairVector g,
                  int threads) {
  if (X.rows == 0) {
    return {0.0, 0.0};
  }
  // Without columns there still is a sum over rows.
  const Block size = Block::of(X.rows, std::max<Index>(X.columns, 1));
  const Index panels = std::max<Index>(1, ceil_div(X.columns, size.columns));
  const Index blocks = ceil_div(X.rows, size.rows);
  std::vector<double> hi(static_cast<std::size_t>(blocks * X.columns), 0.0);
  std::vector<double> lo(hi.size(), 0.0);
  std::vector<Pair> totals(static_cast<std::size_t>(blocks * panels));

  parallel_for(blocks * panels, 1, threads, [&](Index task, Index, int) {
    const Index i = task / panels * size.rows;
    const Index j = task % panels * size.columns;
    const Matrix<T> block =
        X.block(i, std::min(size.rows, X.rows - i), j, std::min(size.columns, X.columns - j));
    const Index k = task / panels * X.columns + j;
    const double* weights = s == nullptr ? nullptr : s + i;
    const ConstPairVector values{r.hi + i, r.lo + i};
    const PairVector partial{hi.data() + k, lo.data() + k};
    c != nullptr ? multiversion<Correlate<T, true>>(block, c + j, weights, values, partial,
                                                    totals.data() + task)
                 : multiversion<Correlate<T, false>>(block, c, weights, values, partial,
                                                     totals.data() + task);
  });

  Pair total{0.0, 0.0};
  for (Index block = 0; block < blocks; ++block) {
    for (Index j = 0; j < X.columns; ++j) {
      const Index k = block * X.columns + j;
      const Pair sum = accumulate({g.hi[j], g.lo[j]}, {hi[k], lo[k]});
      g.hi[j] = sum.hi;
      g.lo[j] = sum.lo;
    }
    total = accumulate(total, totals[static_cast<std::size_t>(block * panels)]);
  }
  return total;
}

template void residual_dd(Matrix<float>, const double*, const double*, ConstPairVector, Pair,
                          PairVector, int);
template void residual_dd(Matrix<double>, const double*, const double*, ConstPairVector, Pair,
                          PairVector, int);
template Pair correlate_dd(Matrix<float>, const double*, const double*, ConstPairVector, PairVector,
                           int);
template Pair correlate_dd(Matrix<double>, const double*, const double*, ConstPairVector,
                           PairVector, int);

}  // namespace tikhon
