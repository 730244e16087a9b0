// Rows of a kernel matrix that were needed lately, within a budget of bytes; and rows that several
// solvers share.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "tikhon/kernel_table.hpp"
#include "tikhon/matrix.hpp"

namespace tikhon {

// Rows are padded by zeros, one at least, to a multiple of this, so that passes need no tail.
constexpr Index kRowPad = 128;

inline Index padded(Index width) {
  return ceil_div(width + 1, kRowPad) * kRowPad;
}

// Least recently used rows leave first. At least two rows are held, whatever the budget: a step
// needs two at a time. For one thread.
template <class T>
class RowCache {
 public:
  RowCache(Index rows, Index bytes)
      : bytes_(bytes), newer_(rows + 1), older_(rows + 1), rows_(rows), list_end_(rows) {}

  // Forget every row; from now on they have this many entries.
  void reset(Index width) {
    for (std::unique_ptr<T[]>& row : rows_) {
      row.reset();
    }
    newer_[list_end_] = older_[list_end_] = list_end_;
    held_ = 0;
    set_width(width);
  }

  // Keep these entries of every row, ascending.
  void keep(const std::vector<Index>& positions) {
    set_width(Index(positions.size()));
    for (Index id = older_[list_end_]; id != list_end_; id = older_[id]) {
      std::unique_ptr<T[]> shorter = make();
      for (std::size_t k = 0; k < positions.size(); ++k) {
        shorter[k] = rows_[id][positions[k]];
      }
      rows_[id] = std::move(shorter);
    }
  }

  // Row `id`, filled by `fill(T*)` if it is not held. Valid until the next but one call.
  template <class Fill>
  const T* get(Index id, Fill&& fill) {
    if (rows_[id]) {
      unlink(id);
    } else {
      std::unique_ptr<T[]> row;
      while (held_ >= capacity_) {
        const Index oldest = newer_[list_end_];
        unlink(oldest);
        row = std::move(rows_[oldest]);
        --held_;
      }
      if (!row) {
        row = make();
      }
      fill(row.get());
      rows_[id] = std::move(row);
      ++held_;
    }
    link_newest(id);
    return rows_[id].get();
  }

 private:
  void set_width(Index width) {
    width_ = width;
    capacity_ = std::max<Index>(2, bytes_ / (padded(width) * Index(sizeof(T))));
  }

  std::unique_ptr<T[]> make() const {
    std::unique_ptr<T[]> row(new T[padded(width_)]);
    std::fill(row.get() + width_, row.get() + padded(width_), T(0));
    return row;
  }

  void unlink(Index id) {
    older_[newer_[id]] = older_[id];
    newer_[older_[id]] = newer_[id];
  }

  // The end of the list stands between the oldest and the newest.
  void link_newest(Index id) {
    const Index newest = older_[list_end_];
    newer_[newest] = id;
    older_[id] = newest;
    newer_[id] = list_end_;
    older_[list_end_] = id;
  }

  Index bytes_;
  Index width_ = 0;
  Index capacity_ = 2;
  Index held_ = 0;
  std::vector<Index> newer_;
  std::vector<Index> older_;
  std::vector<std::unique_ptr<T[]>> rows_;
  Index list_end_;
};

// Whole rows, each computed by whoever asks first and kept for good. For any number of threads.
template <class T>
class SharedRows {
 public:
  explicit SharedRows(const KernelTable& table)
      : n_(table.size()), rows_(std::make_unique<std::atomic<T*>[]>(n_)) {
    std::vector<Index> all(n_);
    for (Index i = 0; i < n_; ++i) {
      all[i] = i;
      rows_[i].store(nullptr, std::memory_order_relaxed);
    }
    panel_ = make_panel<T>(table, all.data(), n_);
  }

  SharedRows(const SharedRows&) = delete;
  SharedRows& operator=(const SharedRows&) = delete;

  ~SharedRows() {
    for (Index i = 0; i < n_; ++i) {
      delete[] rows_[i].load(std::memory_order_relaxed);
    }
  }

  static Index bytes(Index n) { return n * padded(n) * Index(sizeof(T)); }

  const T* row(Index i) {
    T* held = rows_[i].load(std::memory_order_acquire);
    if (held != nullptr) {
      return held;
    }
    std::unique_ptr<T[]> made(new T[padded(n_)]);
    panel_->row(i, 0, n_, made.get());
    std::fill(made.get() + n_, made.get() + padded(n_), T(0));
    if (rows_[i].compare_exchange_strong(held, made.get(), std::memory_order_acq_rel)) {
      return made.release();
    }
    return held;  // Another thread was quicker, with the same numbers.
  }

 private:
  Index n_;
  std::unique_ptr<std::atomic<T*>[]> rows_;
  std::unique_ptr<Panel<T>> panel_;
};

}  // namespace tikhon
