#include "tikhon/cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tikhon/vector_ops.hpp"

namespace tikhon {

double Cholesky::append(const double* row, double diagonal, double floor) {
  const Index r = size_;
  if (r == capacity_) {
    reserve(std::max<Index>(32, 2 * capacity_));
  }
  row_.assign(row, row + r);
  for (Index k = 0; k < r; ++k) {
    const double* below = column(k) + k;
    row_[k] /= below[0];
    axpy(-row_[k], below + 1, row_.data() + k + 1, r - k - 1);
  }
  const double pivot = diagonal - dot(row_.data(), row_.data(), r);
  for (Index k = 0; k < r; ++k) {
    column(k)[r] = row_[k];
  }
  column(r)[r] = std::sqrt(std::max(pivot, floor));
  ++size_;
  return pivot;
}

void Cholesky::remove(Index position) {
  const Index r = size_ - 1;
  for (Index k = 0; k < position; ++k) {
    double* gap = column(k) + position;
    std::memmove(gap, gap + 1, static_cast<std::size_t>(r - position) * sizeof(double));
  }
  // The columns from `position` on, without their first row, are one too many: rotate each pair
  // until the lower triangle stands again, shifted up by one.
  for (Index k = position; k < r; ++k) {
    double* left = column(k) + k + 1;
    double* right = column(k + 1) + k + 1;
    const double length = std::hypot(left[0], right[0]);
    if (length > 0.0) {
      rotate(left[0] / length, right[0] / length, left, right, r - k);
    }
    std::memmove(left - 1, left, static_cast<std::size_t>(r - k) * sizeof(double));
  }
  size_ = r;
}

void Cholesky::solve(double* x) const {
  for (Index k = 0; k < size_; ++k) {
    const double* below = column(k) + k;
    x[k] /= below[0];
    axpy(-x[k], below + 1, x + k + 1, size_ - k - 1);
  }
  for (Index k = size_ - 1; k >= 0; --k) {
    const double* below = column(k) + k;
    x[k] = (x[k] - dot(below + 1, x + k + 1, size_ - k - 1)) / below[0];
  }
}

void Cholesky::reserve(Index capacity) {
  std::vector<double> larger(static_cast<std::size_t>(capacity * capacity));
  for (Index k = 0; k < size_; ++k) {
    std::copy(column(k) + k, column(k) + size_, larger.data() + k * capacity + k);
  }
  entries_.swap(larger);
  capacity_ = capacity;
}

}  // namespace tikhon
