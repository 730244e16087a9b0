// How a matrix is cut into tasks whose partial results are kept and combined in order.
#pragma once

#include <algorithm>

#include "tikhon/matrix.hpp"

namespace tikhon {

// The size of a block. It follows from the shape of the matrix alone, so that sums over blocks,
// and with them their rounding, are the same for any number of threads.
struct Block {
  Index rows;
  Index columns;

  static constexpr Index widest = 512;        // the accumulators of a panel fit the nearest cache
  static constexpr Index entries = 65536;     // enough work to hide the start of a task
  static constexpr Index partials = 1 << 20;  // bound on blocks of rows times columns
  static constexpr Index unit = 512;          // the number of rows is a multiple of this

  // For n, d >= 1.
  static Block of(Index n, Index d) {
    const Index columns = std::min(d, widest);
    const Index most_blocks = std::max<Index>(1, partials / d);
    const Index rows = std::max(ceil_div(n, most_blocks), ceil_div(entries, columns));
    return {std::min(n, ceil_div(rows, unit) * unit), columns};
  }
};

}  // namespace tikhon
