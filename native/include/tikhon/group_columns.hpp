// Block coordinate descent for groups of columns on the rows themselves, several targets at once:
//
//     min_W  ||Y - A W||^2 / 2 + lam sum_g weight_g ||W_g||.
//
// The columns of a group are contiguous and orthogonal to each other (turned by the eigenvectors of
// the group's moments), with squared lengths d_i. With U_g = A_g'R + D W_g the group's minimum is
//
//     W_i = U_i / (d_i + lam weight_g / h),   where  sum_i ||U_i||^2 / (d_i h + lam weight_g)^2 =
//     1,
//
// a root of one number, the norm h. A table in single precision costs half the memory traffic;
// residual and sums are in double precision either way.
#pragma once

#include "tikhon/matrix.hpp"
#include "tikhon/stop.hpp"

namespace tikhon {

template <class T>
struct TurnedGroups {
  const T* A;            // column j starts at A + j * stride
  Index n;               // rows
  Index stride;          // from column to column
  const Index* starts;   // first column of each group, and the end of the last
  const double* weight;  // of each group
  const double* square;  // squared length of each column
};

struct Sweeps {
  int most;       // how many at most
  double enough;  // end once a sweep lowers the loss's share of the objective by no more than this
};

// Sweep over the groups in `chosen`. `W` (targets x columns) and the residual `R` (targets x rows)
// change in place, their rows contiguous. Returns the last sweep's sum of ||A_g change||^2 / 2: the
// objective sank by at least that much.
template <class T>
double group_columns(const TurnedGroups<T>& groups, Index columns, Index targets,
                     const Index* chosen, Index count, double lam, Sweeps sweeps, double* W,
                     double* R, const Stop& stop);

}  // namespace tikhon
