#include "tikhon/gather.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tikhon/multiversion.hpp"
#include "tikhon/parallel.hpp"
#include "tikhon/prefetch.hpp"
#include "tikhon/transpose.hpp"

namespace tikhon {
namespace {

constexpr Index kTaskEntries = 65536;
constexpr Index kTileColumns = 8;  // of doubles: the row of a tile is one cache line of the output
constexpr Index kTileRows = 256;
constexpr Index kLine = 8;  // rows of one column that share a cache line, or fewer

// What the inner loops read: the transform with its gaps filled, and where rows go.
template <class T>
struct Job {
  Matrix<T> X;
  RowChoice rows;
  const Index* order;  // chosen rows in the order they are visited, or null for 0, 1, 2, ...
  const double* shift;
  const double* column_scale;
  const double* scale;  // null for 1
  double* out;
  bool increasing;  // the rows chosen are, strictly

  Index target(Index k) const { return order != nullptr ? order[k] : k; }
  double factor(Index i) const { return scale != nullptr ? scale[i] : 1.0; }

  // Whether visits k to k + 7 go to eight rows that follow one another, on both sides.
  bool run_of_eight(Index k, Index end) const {
    return k + 8 <= end && order == nullptr && X.row_stride == 1 && rows[k + 7] - rows[k] == 7 &&
           increasing;
  }
};

// Rows are runs of memory: copied one by one.
template <class T, bool contiguous>
struct GatherRows {
  template <Isa isa>
  TIKHON_INLINE static void run(Job<T> job, Index begin, Index end) {
    const Index d = job.X.columns;
    const Index step = contiguous ? 1 : job.X.column_stride;
    const double* TIKHON_RESTRICT shift = job.shift;
    const double* TIKHON_RESTRICT column_scale = job.column_scale;
    for (Index i = begin; i < end; ++i) {
      const T* TIKHON_RESTRICT x = job.X.row(job.rows[i]);
      double* TIKHON_RESTRICT out = job.out + i * d;
      const double factor = job.factor(i);
      for (Index j = 0; j < d; ++j) {
        out[j] = (double(x[j * step]) - shift[j]) * column_scale[j] * factor;
      }
    }
  }
};

// Columns are runs of memory: tiles of eight columns, so that a cache line of the output is
// written at once, and few enough rows that the lines of eight columns stay in the nearest cache
// until all their rows have been used.
template <class T>
struct GatherTiles {
  template <Isa isa>
  TIKHON_INLINE static void run(Job<T> job, Index begin, Index end) {
    const Index d = job.X.columns;
    for (Index j = 0; j < d; j += kTileColumns) {
      if (j + kTileColumns <= d) {
        tile<isa, kTileColumns>(job, begin, end, j);
      } else {
        tile<isa, 0>(job, begin, end, j);
      }
    }
  }

 private:
  // `width` is 0 in the last tile, whose width the compiler does not know.
  template <Isa isa, Index width>
  TIKHON_INLINE static void tile(const Job<T>& job, Index begin, Index end, Index first) {
    const Index d = job.X.columns;
    const Index count = width > 0 ? width : d - first;
    const Index step = job.X.column_stride;
    const T* base = job.X.column(first);
    const double* shift = job.shift + first;
    const double* column_scale = job.column_scale + first;
    Index fetched = -1;
    for (Index k = begin; k < end; ++k) {
      const Index i = job.target(k);
      const Index row = job.rows[i];
      const T* x = job.X.row(row) + (base - job.X.data);
      double* out = job.out + i * d + first;
      if (row / kLine != fetched) {
        fetched = row / kLine;
        prefetch_next(job, x, first);
      }
#if TIKHON_HAS_SHUFFLES
      if constexpr (transposes_in_registers<isa>() && width == 8) {
        if (job.run_of_eight(k, end)) {
          square(job, x, i, first);
          k += 7;
          continue;
        }
      }
#endif
      const double factor = job.factor(i);
      for (Index c = 0; c < count; ++c) {
        out[c] = (double(x[c * step]) - shift[c]) * column_scale[c] * factor;
      }
    }
  }

#if TIKHON_HAS_SHUFFLES
  // Eight rows that follow one another, from row i of the output, of eight columns.
  TIKHON_INLINE static void square(const Job<T>& job, const T* x, Index i, Index first) {
    const Index d = job.X.columns;
    double* out = job.out + i * d + first;
    for (Index r = 0; r < 8; ++r) {
      prefetch_to_write(out + r * d + kTileColumns);
    }
    EightDoubles rows[8], shift, column_scale;
    transpose_eight(x, job.X.column_stride, rows);
    load_eight(job.shift + first, shift);
    load_eight(job.column_scale + first, column_scale);
    for (int r = 0; r < 8; ++r) {
      store_eight(out + r * d, (rows[r] - shift) * column_scale * job.factor(i + r));
    }
  }
#endif

  // The same rows of the next eight columns: the processor sees too short a run to guess them.
  TIKHON_INLINE static void prefetch_next(const Job<T>& job, const T* x, Index first) {
    if (first + 2 * kTileColumns <= job.X.columns) {
      for (Index c = kTileColumns; c < 2 * kTileColumns; ++c) {
        prefetch(x + c * job.X.column_stride);
      }
    }
  }
};

void check_rows(RowChoice rows, Index n) {
  const auto refuse = [n](Index row, Index position) {
    throw std::out_of_range("`index` must lie in [0, " + std::to_string(n) + "), got " +
                            std::to_string(row) + " at position " + std::to_string(position));
  };
  if (rows.index == nullptr) {
    if (rows.count > 0 && (rows.start < 0 || rows.start > n - rows.count)) {
      refuse(rows.start < 0 ? rows.start : rows.start + rows.count - 1,
             rows.start < 0 ? 0 : rows.count - 1);
    }
    return;
  }
  for (Index i = 0; i < rows.count; ++i) {
    if (rows.index[i] < 0 || rows.index[i] >= n) {
      refuse(rows.index[i], i);
    }
  }
}

bool strictly_increasing(RowChoice rows) {
  return rows.index == nullptr ||
         std::adjacent_find(rows.index, rows.index + rows.count, std::greater_equal<Index>()) ==
             rows.index + rows.count;
}

// Positions sorted by the row they ask for, to within rows that share a cache line or so: each
// line of a matrix stored by columns is then fetched once. A counting sort, linear in `count`;
// empty when the rows come in order already.
std::vector<Index> visiting_order(RowChoice rows, Index n) {
  if (rows.index == nullptr || std::is_sorted(rows.index, rows.index + rows.count)) {
    return {};
  }
  int shift = 0;
  while ((n >> shift) > 2 * rows.count) {
    ++shift;
  }
  std::vector<Index> next(static_cast<std::size_t>((n >> shift) + 2), 0);
  for (Index i = 0; i < rows.count; ++i) {
    ++next[(rows.index[i] >> shift) + 1];
  }
  for (std::size_t bin = 1; bin < next.size(); ++bin) {
    next[bin] += next[bin - 1];
  }
  std::vector<Index> order(static_cast<std::size_t>(rows.count));
  for (Index i = 0; i < rows.count; ++i) {
    order[next[rows.index[i] >> shift]++] = i;
  }
  return order;
}

}  // namespace

template <class T>
void gather(Matrix<T> X, RowChoice rows, RowTransform transform, double* out, int threads) {
  check_rows(rows, X.rows);
  if (rows.count == 0 || X.columns == 0) {
    return;
  }
  const auto d = static_cast<std::size_t>(X.columns);
  const std::vector<double> zeros(transform.shift == nullptr ? d : 0, 0.0);
  const std::vector<double> ones(transform.column_scale == nullptr ? d : 0, 1.0);
  Job<T> job{X,
             rows,
             nullptr,
             transform.shift == nullptr ? zeros.data() : transform.shift,
             transform.column_scale == nullptr ? ones.data() : transform.column_scale,
             transform.scale,
             out,
             false};
  if (X.column_major()) {
    const std::vector<Index> order = visiting_order(rows, X.rows);
    job.order = order.empty() ? nullptr : order.data();
    job.increasing = strictly_increasing(rows);
    parallel_for(rows.count, kTileRows, threads, [&](Index begin, Index end, int) {
      multiversion<GatherTiles<T>>(job, begin, end);
    });
  } else {
    const Index grain = std::max<Index>(1, kTaskEntries / X.columns);
    parallel_for(rows.count, grain, threads, [&](Index begin, Index end, int) {
      X.column_stride == 1 ? multiversion<GatherRows<T, true>>(job, begin, end)
                           : multiversion<GatherRows<T, false>>(job, begin, end);
    });
  }
}

template void gather(Matrix<float>, RowChoice, RowTransform, double*, int);
template void gather(Matrix<double>, RowChoice, RowTransform, double*, int);

}  // namespace tikhon
