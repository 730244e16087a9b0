#include "tikhon/scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tikhon/blocks.hpp"
#include "tikhon/multiversion.hpp"
#include "tikhon/parallel.hpp"
#include "tikhon/prefetch.hpp"

namespace tikhon {
namespace {

constexpr Index kPanel = Block::widest;
constexpr Index kRows = 512;    // terms summed one after the other, before sums are summed
constexpr Index kTall = 65536;  // rows of one task in a matrix stored by columns
constexpr Index kNarrow = 32;   // with fewer columns than this, rows are laid end to end
constexpr Index kAhead = 8192;  // bytes between what is read and what is fetched
constexpr Index kLanes = 64;    // partial sums of a column

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

template <class T>
TIKHON_INLINE T smaller(T a, T b) {
  return a < b ? a : b;  // b when a is NaN
}

template <class T>
TIKHON_INLINE T larger(T a, T b) {
  return a > b ? a : b;
}

// Memory for partial results.
class Storage {
 public:
  explicit Storage(Index size) : numbers_(3 * size), counts_(size), size_(size) {}

  ColumnStatistics view() {
    double* first = numbers_.data();
    return {first, first + size_, first + 2 * size_, counts_.data()};
  }

 private:
  std::vector<double> numbers_;
  std::vector<Index> counts_;
  Index size_;
};

void clear(ColumnStatistics out, Index columns) {
  std::fill_n(out.sums, columns, 0.0);
  std::fill_n(out.minimum, columns, kInfinity<double>);
  std::fill_n(out.maximum, columns, -kInfinity<double>);
  std::fill_n(out.nonfinite, columns, Index{0});
}

TIKHON_INLINE ColumnStatistics from(ColumnStatistics all, Index first) {
  return {all.sums + first, all.minimum + first, all.maximum + first, all.nonfinite + first};
}

TIKHON_INLINE void merge(ColumnStatistics out, Index j, ColumnStatistics part, Index k) {
  out.sums[j] += part.sums[k];
  out.minimum[j] = smaller(part.minimum[k], out.minimum[j]);
  out.maximum[j] = larger(part.maximum[k], out.maximum[j]);
  out.nonfinite[j] += part.nonfinite[k];
}

// The statistics of a block under way. Non-finite entries are not counted in the loops: they leave
// a sum that is not finite, so that only blocks with such a sum need a second look.
template <class T>
struct Accumulators {
  // Padded: arrays a multiple of 4096 bytes apart make the processor take a load from one for a
  // load of what was just stored to another.
  static constexpr Index size = kPanel + 16;
  double sums[size];
  T low[size];
  T high[size];

  TIKHON_INLINE explicit Accumulators(Index columns) {
    for (Index j = 0; j < columns; ++j) {
      sums[j] = 0.0;
      low[j] = kInfinity<T>;
      high[j] = -kInfinity<T>;
    }
  }

  // One row at a time, entries `step` apart: on the machines measured, memory is read faster along
  // one line, fetched a few rows ahead, than along several rows that share their accumulators.
  template <bool contiguous>
  TIKHON_INLINE void add(const Matrix<T>& X) {
    const Index step = contiguous ? 1 : X.column_stride;
    const Index ahead = 1 + kAhead / (Index{sizeof(T)} * std::max<Index>(1, X.columns));
    for (Index i = 0; i < X.rows; ++i) {
      if (contiguous && i + ahead < X.rows) {
        prefetch(X.row(i + ahead), X.columns);
      }
      const T* TIKHON_RESTRICT x = X.row(i);
      for (Index j = 0; j < X.columns; ++j) {
        const T p = x[j * step];
        sums[j] += double(p);
        low[j] = smaller(p, low[j]);
        high[j] = larger(p, high[j]);
      }
    }
  }

  // Column j of the block into entry `target` of `out`.
  TIKHON_INLINE void merge_into(ColumnStatistics out, Index target, Index j) const {
    out.sums[target] += sums[j];
    out.minimum[target] = smaller(double(low[j]), out.minimum[target]);
    out.maximum[target] = larger(double(high[j]), out.maximum[target]);
  }
};

template <class T>
Index count_nonfinite(const T* x, Index n, Index step) {
  Index count = 0;
  for (Index i = 0; i < n; ++i) {
    count += !std::isfinite(x[i * step]);
  }
  return count;
}

// Rows are runs of memory: all columns of the panel side by side.
template <class T, bool contiguous>
struct ScanRows {
  template <Isa isa>
  TIKHON_INLINE static void run(Matrix<T> X, ColumnStatistics out) {
    for (Index begin = 0; begin < X.rows; begin += kRows) {
      const Matrix<T> block = X.block(begin, std::min(kRows, X.rows - begin), 0, X.columns);
      Accumulators<T> sums(X.columns);
      sums.template add<contiguous>(block);
      for (Index j = 0; j < X.columns; ++j) {
        sums.merge_into(out, j, j);
        if (!std::isfinite(sums.sums[j])) {
          out.nonfinite[j] += count_nonfinite(block.column(j), block.rows, block.row_stride);
        }
      }
    }
  }
};

// Columns are runs of memory: each is read as a matrix of kLanes columns in C order, whose
// statistics are then merged.
template <class T, bool contiguous>
struct ScanColumns {
  template <Isa isa>
  TIKHON_INLINE static void run(Matrix<T> X, ColumnStatistics out) {
    const Index step = contiguous ? 1 : X.row_stride;
    for (Index j = 0; j < X.columns; ++j) {
      for (Index begin = 0; begin < X.rows; begin += kLanes * kRows) {
        const Index count = std::min(kLanes * kRows, X.rows - begin);
        scan_run(X.column(j) + begin * step, count, step, out, j);
      }
    }
  }

 private:
  TIKHON_INLINE static void scan_run(const T* x, Index n, Index step, ColumnStatistics out,
                                     Index j) {
    const Index rows = n / kLanes;
    Accumulators<T> lanes(kLanes);
    lanes.template add<contiguous>({x, rows, kLanes, kLanes * step, step});
    lanes.template add<contiguous>({x + rows * kLanes * step, 1, n - rows * kLanes, 0, step});
    double sum = 0.0;
    for (Index l = 0; l < kLanes; ++l) {
      sum += lanes.sums[l];
      lanes.merge_into(out, j, l);
    }
    if (!std::isfinite(sum)) {
      out.nonfinite[j] += count_nonfinite(x, n, step);
    }
  }
};

template <class T>
void scan_task(Matrix<T> X, ColumnStatistics out, bool column_major) {
  clear(out, X.columns);
  if (column_major) {
    X.row_stride == 1 ? multiversion<ScanColumns<T, true>>(X, out)
                      : multiversion<ScanColumns<T, false>>(X, out);
  } else {
    X.column_stride == 1 ? multiversion<ScanRows<T, true>>(X, out)
                         : multiversion<ScanRows<T, false>>(X, out);
  }
}

// A matrix stored by columns is cut along them: tall blocks of one column, or many short ones.
Block cut(Index n, Index d, bool column_major) {
  if (!column_major) {
    return Block::of(n, d);
  }
  const Index rows = std::min(n, kTall);
  return {rows, std::clamp<Index>(Block::entries / rows, 1, d)};
}

template <class T>
void scan_blocks(Matrix<T> X, ColumnStatistics out, int threads) {
  const bool column_major = X.column_major();
  const Block size = cut(X.rows, X.columns, column_major);
  const Index panels = ceil_div(X.columns, size.columns);
  const Index blocks = ceil_div(X.rows, size.rows);

  Storage storage(blocks * X.columns);
  const ColumnStatistics partial = storage.view();

  parallel_for(blocks * panels, 1, threads, [&](Index task, Index, int) {
    const Index block = task / panels;
    const Index i = block * size.rows;
    const Index j = (task % panels) * size.columns;
    scan_task(X.block(i, std::min(size.rows, X.rows - i), j, std::min(size.columns, X.columns - j)),
              from(partial, block * X.columns + j), column_major);
  });
  for (Index block = 0; block < blocks; ++block) {
    for (Index j = 0; j < X.columns; ++j) {
      merge(out, j, partial, block * X.columns + j);
    }
  }
}

// A few columns in C order fill no vector; `copies` rows laid end to end do. The statistics of
// the wide matrix are then folded back.
template <class T>
void scan_narrow(Matrix<T> X, ColumnStatistics out, int threads) {
  const Index copies = kPanel / X.columns;
  const Index width = copies * X.columns;
  const Index wide_rows = X.rows / copies;
  Storage storage(width);
  const ColumnStatistics wide = storage.view();
  clear(wide, width);
  scan_blocks(Matrix<T>{X.data, wide_rows, width, width, 1}, wide, threads);
  for (Index k = 0; k < width; ++k) {
    merge(out, k % X.columns, wide, k);
  }
  const Index rest = X.rows - wide_rows * copies;
  if (rest > 0) {
    scan_blocks(X.block(wide_rows * copies, rest, 0, X.columns), out, 1);
  }
}

}  // namespace

template <class T>
void scan(Matrix<T> X, ColumnStatistics out, int threads) {
  clear(out, X.columns);
  if (X.rows == 0 || X.columns == 0) {
    return;
  }
  const bool rows_touch = X.column_stride == 1 && X.row_stride == X.columns;
  if (rows_touch && X.columns > 1 && X.columns < kNarrow && X.rows >= 4 * kPanel) {
    scan_narrow(X, out, threads);
  } else {
    scan_blocks(X, out, threads);
  }
}

template void scan(Matrix<float>, ColumnStatistics, int);
template void scan(Matrix<double>, ColumnStatistics, int);

}  // namespace tikhon
