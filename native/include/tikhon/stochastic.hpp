// Stochastic gradient descent over mini-batches of rows, one after the other:
//
//     z_i = x_i . w + b                                 for the rows i of batch t, all at the same
//     w g_i = a_i loss'(y_i, z_i) / (rows in the batch) w  <- soft(shrink_t w - gain_t sum_i g_i
//     x_i, threshold_t),   then into the ball, if there is b  <- b - gain_t sum_i g_i
//
// and the sum of all w (before their step) for averages. w is kept as c v: shrinking is one
// multiplication, so that a step costs what its rows have entries, not columns. The sum of the
// iterates is kept as a v + u, since v <- v + x leaves it where it is when u <- u - a x.
#pragma once

#include <string>

#include "tikhon/matrix.hpp"

namespace tikhon {

// Rows in the order of the batches, contiguous.
struct BlockOfRows {
  const double* values;  // rows x columns
  Index columns;

  double dot(Index i, const double* v) const;
  void add(Index i, double a, double* v) const;
  double squared_norm(Index i) const;
};

// Compressed sparse rows that belong to somebody else, visited in the order of `index`.
template <class T, class I>
struct ChosenRows {
  const T* values;
  const I* columns_of;
  const I* starts;
  const Index* index;
  Index columns;

  double dot(Index i, const double* v) const {
    double total = 0.0;
    const Index row = index[i];
    for (Index k = starts[row]; k < static_cast<Index>(starts[row + 1]); ++k) {
      total += double(values[k]) * v[columns_of[k]];
    }
    return total;
  }

  void add(Index i, double a, double* v) const {
    const Index row = index[i];
    for (Index k = starts[row]; k < static_cast<Index>(starts[row + 1]); ++k) {
      v[columns_of[k]] += a * double(values[k]);
    }
  }

  double squared_norm(Index i) const {
    double total = 0.0;
    const Index row = index[i];
    for (Index k = starts[row]; k < static_cast<Index>(starts[row + 1]); ++k) {
      total += double(values[k]) * double(values[k]);
    }
    return total;
  }
};

struct Batches {
  const double* y;       // rows
  const double* weight;  // rows, or null for 1
  Index rows;
  Index size;               // of a batch; the last may be smaller
  const double* shrink;     // batches
  const double* gain;       // batches
  const double* threshold;  // batches, or null for none
  double radius;            // of the ball; infinity for none
  bool intercept;
};

// Read and written: w and, unless it is null, the sum of iterates have one entry for each column;
// offset is b and the sum of its iterates. Written unless null: the slope that each row was found
// to have, not weighted, in the order of the batches.
struct Iterates {
  double* w;
  double* total;
  double* offset;
  double* slopes;
};

// `loss` is its name in `tikhon.losses`; throws std::invalid_argument for one it does not know.
template <class Rows>
void stochastic_pass(const Rows& X, const Batches& batches, const std::string& loss,
                     double parameter, const Iterates& at);

}  // namespace tikhon
