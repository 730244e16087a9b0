#include "tikhon/hash_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tikhon/multiversion.hpp"
#include "tikhon/parallel.hpp"
#include "tikhon/prefetch.hpp"

namespace tikhon {
namespace {

constexpr Index kTaskEntries = 65536;
constexpr Index kTallRows = 1024;  // rows of one task in a matrix stored by columns
constexpr std::uint64_t kNan = 0x7ff8000000000000;

// A bijection of 64 bits in which every bit of the input moves about half of those of the output:
// two rounds of multiplication and folding, with odd constants rich in ones and zeros.
TIKHON_INLINE std::uint64_t scramble(std::uint64_t z) {
  z ^= z >> 32;
  z *= 0xe9846af9b1a615d5;
  z ^= z >> 29;
  z *= 0x9e6c63d0a3ab4f2d;
  z ^= z >> 31;
  return z;
}

// What is known of a column: a random word to tell it from the others, and its power of two.
struct Key {
  std::uint64_t salt;
  double factor;
};

TIKHON_INLINE std::uint64_t mix(std::uint64_t salt, double factor, double x) {
  const double scaled = x * factor;
  std::uint64_t bits;
  std::memcpy(&bits, &scaled, sizeof bits);
  bits = scaled == scaled ? bits : kNan;
  const std::uint64_t mixed = scramble(bits + salt) ^ salt;
  return x != 0.0 ? mixed : 0;
}

std::uint64_t finalise(std::uint64_t sum) {
  return scramble(sum + 0x5851f42d4c957f2d);
}

struct Keys {
  std::vector<std::uint64_t> salts;
  std::vector<double> factors;

  Keys(Index columns, const std::int32_t* exponent)
      : salts(static_cast<std::size_t>(columns)), factors(static_cast<std::size_t>(columns), 1.0) {
    for (Index j = 0; j < columns; ++j) {
      salts[j] = scramble((static_cast<std::uint64_t>(j) + 1) * 0x9e3779b97f4a7c15);
      if (exponent != nullptr) {
        check(exponent[j], j);
        factors[j] = std::ldexp(1.0, std::min(-exponent[j], 1023));
      }
    }
  }

 private:
  static void check(std::int32_t exponent, Index j) {
    if (exponent < lowest_exponent || exponent > highest_exponent) {
      throw std::invalid_argument("`exponent` must lie in [" + std::to_string(lowest_exponent) +
                                  ", " + std::to_string(highest_exponent) + "], got " +
                                  std::to_string(exponent) + " for column " + std::to_string(j));
    }
  }
};

// Sums of mixed entries for a block of rows: along rows, or down columns.
template <class T>
struct HashRows {
  template <Isa isa>
  TIKHON_INLINE static void run(Matrix<T> X, const std::uint64_t* TIKHON_RESTRICT salts,
                                const double* TIKHON_RESTRICT factors,
                                std::uint64_t* TIKHON_RESTRICT sums) {
    if (X.column_stride == 1) {
      for (Index i = 0; i < X.rows; ++i) {
        const T* TIKHON_RESTRICT x = X.row(i);
        std::uint64_t sum = 0;
        for (Index j = 0; j < X.columns; ++j) {
          sum += mix(salts[j], factors[j], double(x[j]));
        }
        sums[i] = sum;
      }
      return;
    }
    std::fill_n(sums, X.rows, std::uint64_t{0});
    for (Index j = 0; j < X.columns; ++j) {
      const std::uint64_t salt = salts[j];
      const double factor = factors[j];
      const T* TIKHON_RESTRICT x = X.column(j);
      if (X.row_stride == 1) {
        if (j + 1 < X.columns) {
          prefetch(X.column(j + 1), X.rows);
        }
        for (Index i = 0; i < X.rows; ++i) {
          sums[i] += mix(salt, factor, double(x[i]));
        }
      } else {
        for (Index i = 0; i < X.rows; ++i) {
          sums[i] += mix(salt, factor, double(x[i * X.row_stride]));
        }
      }
    }
  }
};

// One compressed row, by the rule for entries of the same column.
template <class T, class I>
class SparseRow {
 public:
  explicit SparseRow(const Keys& keys) : keys_(keys) {}

  std::uint64_t sum(const I* indices, const T* values, Index count) {
    std::uint64_t total = 0;
    bool increasing = true;
    for (Index k = 0; k < count; ++k) {
      increasing = increasing && (k == 0 || indices[k - 1] < indices[k]);
      total += term(indices[k], values[k]);
    }
    return increasing ? total : sum_unsorted(indices, values, count);
  }

 private:
  std::uint64_t term(I j, T x) const {
    return mix(keys_.salts[static_cast<std::size_t>(j)], keys_.factors[static_cast<std::size_t>(j)],
               double(x));
  }

  std::uint64_t sum_unsorted(const I* indices, const T* values, Index count) {
    entries_.clear();
    for (Index k = 0; k < count; ++k) {
      entries_.emplace_back(indices[k], values[k]);
    }
    // Stable, and added in T: the very sum that scipy's conversion to a dense matrix forms.
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::uint64_t total = 0;
    for (std::size_t k = 0; k < entries_.size();) {
      const I j = entries_[k].first;
      T x = 0;
      for (; k < entries_.size() && entries_[k].first == j; ++k) {
        x += entries_[k].second;
      }
      total += term(j, x);
    }
    return total;
  }

  const Keys& keys_;
  std::vector<std::pair<I, T>> entries_;
};

template <class T, class I>
void check_structure(const CompressedRows<T, I>& X) {
  for (Index i = 0; i <= X.rows; ++i) {
    const Index lowest = i == 0 ? 0 : X.starts[i - 1];
    if (X.starts[i] < lowest || X.starts[i] > X.entries) {
      throw std::invalid_argument("`indptr` must increase from 0 to " + std::to_string(X.entries) +
                                  ", got " + std::to_string(X.starts[i]) + " at position " +
                                  std::to_string(i));
    }
  }
}

template <class T, class I>
void check_indices(const CompressedRows<T, I>& X, Index begin, Index end) {
  for (Index k = begin; k < end; ++k) {
    if (X.indices[k] < 0 || X.indices[k] >= X.columns) {
      throw std::invalid_argument("`indices` must lie in [0, " + std::to_string(X.columns) +
                                  "), got " + std::to_string(X.indices[k]) + " at position " +
                                  std::to_string(k));
    }
  }
}

}  // namespace

template <class T>
void hash_rows(Matrix<T> X, const std::int32_t* exponent, std::uint64_t* hashes, int threads) {
  const Keys keys(X.columns, exponent);
  const Index grain = X.column_major()
                          ? kTallRows
                          : std::max<Index>(1, kTaskEntries / std::max<Index>(1, X.columns));
  parallel_for(X.rows, grain, threads, [&](Index begin, Index end, int) {
    multiversion<HashRows<T>>(X.block(begin, end - begin, 0, X.columns), keys.salts.data(),
                              keys.factors.data(), hashes + begin);
    std::transform(hashes + begin, hashes + end, hashes + begin, finalise);
  });
}

template <class T, class I>
void hash_rows(CompressedRows<T, I> X, const std::int32_t* exponent, std::uint64_t* hashes,
               int threads) {
  check_structure(X);
  const Keys keys(X.columns, exponent);
  const Index per_row = X.entries / std::max<Index>(1, X.rows) + 1;
  const Index grain = std::max<Index>(1, kTaskEntries / per_row);
  parallel_for(X.rows, grain, threads, [&](Index begin, Index end, int) {
    check_indices(X, X.starts[begin], X.starts[end]);
    SparseRow<T, I> row(keys);
    for (Index i = begin; i < end; ++i) {
      const Index first = X.starts[i];
      hashes[i] = finalise(row.sum(X.indices + first, X.values + first, X.starts[i + 1] - first));
    }
  });
}

template void hash_rows(Matrix<float>, const std::int32_t*, std::uint64_t*, int);
template void hash_rows(Matrix<double>, const std::int32_t*, std::uint64_t*, int);
template void hash_rows(CompressedRows<float, std::int32_t>, const std::int32_t*, std::uint64_t*,
                        int);
template void hash_rows(CompressedRows<double, std::int32_t>, const std::int32_t*, std::uint64_t*,
                        int);
template void hash_rows(CompressedRows<float, std::int64_t>, const std::int32_t*, std::uint64_t*,
                        int);
template void hash_rows(CompressedRows<double, std::int64_t>, const std::int32_t*, std::uint64_t*,
                        int);

}  // namespace tikhon
