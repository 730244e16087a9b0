// Anderson extrapolation of a fixed-point iteration from its last few iterates.
//
// With differences U of K + 1 iterates, the combination sum_k c_k w_k with c = (U'U)^-1 1 over its
// sum makes the next difference small: for a linear iteration of low effective rank, nearly zero.
#pragma once

#include <vector>

#include "tikhon/matrix.hpp"

namespace tikhon {

class Extrapolation {
 public:
  static constexpr std::size_t kept = 5;

  // Forget everything; vectors of this many entries follow.
  void restart(std::size_t size);

  // Note w at `columns`; true when there are enough to extrapolate.
  bool add(const std::vector<Index>& columns, const double* w);

  std::vector<double> current(const std::vector<Index>& columns, const double* w) const;

  // Write the extrapolated vector; false where the differences are too much alike.
  bool propose(std::vector<double>& proposal) const;

 private:
  std::size_t size_ = 0;
  std::vector<std::vector<double>> iterates_;
};

}  // namespace tikhon
