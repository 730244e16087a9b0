// A Cholesky factor that follows its matrix while rows and columns come and go.
//
// Append costs one triangular solve, removal a sweep of plane rotations: r^2 operations each, in
// place of the r^3 / 3 of a new factorisation.
#pragma once

#include <vector>

#include "tikhon/matrix.hpp"

namespace tikhon {

class Cholesky {
 public:
  Index size() const { return size_; }

  void clear() { size_ = 0; }

  // Append a row: `row[0..size)` against the present ones, `diagonal` with itself. A pivot below
  // `floor` > 0 is raised to it. Returns the pivot as it was found, which is the squared distance
  // of the new column from the span of the others.
  double append(const double* row, double diagonal, double floor);

  // Remove the row and column at `position`; those behind it move up.
  void remove(Index position);

  // x <- (L L')^-1 x
  void solve(double* x) const;

 private:
  void reserve(Index capacity);
  double* column(Index k) { return entries_.data() + k * capacity_; }
  const double* column(Index k) const { return entries_.data() + k * capacity_; }

  Index size_ = 0;
  Index capacity_ = 0;
  std::vector<double> entries_;  // columns of L, entries from the diagonal down
  std::vector<double> row_;
};

}  // namespace tikhon
