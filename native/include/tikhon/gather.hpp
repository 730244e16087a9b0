// Chosen rows of a matrix, shifted and scaled, into a buffer that BLAS can use.
#pragma once

#include "tikhon/matrix.hpp"

namespace tikhon {

// Which rows: `index[0..count)`, or `start, start + 1, ...` when `index` is null.
struct RowChoice {
  const Index* index;
  Index start;
  Index count;

  Index operator[](Index i) const { return index != nullptr ? index[i] : start + i; }
};

// What is done to them; null stands for a shift of 0 and for factors of 1.
struct RowTransform {
  const double* shift;         // one for each column
  const double* column_scale;  // one for each column
  const double* scale;         // one for each chosen row
};

// out[i, j] = (double(X[rows[i], j]) - shift[j]) * column_scale[j] * scale[i], from left to right,
// with `out` in C order, rows.count x X.columns. Rows may be chosen several times, in any order.
// Throws std::out_of_range, before anything is written, when a row does not exist.
template <class T>
void gather(Matrix<T> X, RowChoice rows, RowTransform transform, double* out, int threads);

extern template void gather(Matrix<float>, RowChoice, RowTransform, double*, int);
extern template void gather(Matrix<double>, RowChoice, RowTransform, double*, int);

}  // namespace tikhon
