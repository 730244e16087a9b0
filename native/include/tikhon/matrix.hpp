// A dense matrix that belongs to somebody else: address, shape and strides, read only.
#pragma once

#include <cstdint>

namespace tikhon {

// Every index, count and stride is 64 bits wide: 3e5 rows of 1e4 columns already overflow 32.
using Index = std::int64_t;

// Strides count elements, not bytes, and are not negative; stride 0 repeats a row or a column.
template <class T>
struct Matrix {
  const T* data;
  Index rows;
  Index columns;
  Index row_stride;
  Index column_stride;

  const T* row(Index i) const { return data + i * row_stride; }
  const T* column(Index j) const { return data + j * column_stride; }

  Matrix block(Index first_row, Index row_count, Index first_column, Index column_count) const {
    return {data + first_row * row_stride + first_column * column_stride, row_count, column_count,
            row_stride, column_stride};
  }

  // Neighbours in memory are in one column (Fortran order, or closest to it) rather than one row.
  bool column_major() const { return columns == 1 || (rows > 1 && row_stride < column_stride); }
};

inline Index ceil_div(Index a, Index b) {
  return a / b + (a % b != 0);
}

}  // namespace tikhon
