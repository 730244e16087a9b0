// Small matrices turned over: between rows in memory and columns in memory.
#pragma once

#include <cstring>

#include "tikhon/matrix.hpp"
#include "tikhon/multiversion.hpp"
#include "tikhon/prefetch.hpp"

#if TIKHON_HAS_MULTIVERSION && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector) && __has_builtin(__builtin_convertvector)
#define TIKHON_HAS_SHUFFLES 1
#endif
#endif
#ifndef TIKHON_HAS_SHUFFLES
#define TIKHON_HAS_SHUFFLES 0
#endif

namespace tikhon {

// Whether eight rows of eight columns are turned over in registers. Without AVX-512 the compiler
// makes such poor code of it that entries are better moved one by one.
template <Isa isa>
constexpr bool transposes_in_registers() {
  return TIKHON_HAS_SHUFFLES && isa == Isa::avx512;
}

#if TIKHON_HAS_SHUFFLES

// Passed by reference only: how a vector is passed by value depends on the instruction set.
typedef double EightDoubles __attribute__((vector_size(64), aligned(8)));

template <class T>
TIKHON_INLINE void load_eight(const T* x, EightDoubles& value) {
  typedef T Source __attribute__((vector_size(8 * sizeof(T)), aligned(sizeof(T))));
  Source source;
  std::memcpy(&source, x, sizeof source);
  value = __builtin_convertvector(source, EightDoubles);
}

TIKHON_INLINE void store_eight(double* out, const EightDoubles& value) {
  std::memcpy(out, &value, sizeof value);
}

// rows[r][c] = x[c * step + r], in three rounds of exchanges between pairs of vectors.
template <class T>
TIKHON_INLINE void transpose_eight(const T* x, Index step, EightDoubles (&rows)[8]) {
  EightDoubles a[8], b[8];
  for (int c = 0; c < 8; ++c) {
    load_eight(x + c * step, a[c]);
  }
  for (int c = 0; c < 8; c += 2) {
    b[c] = __builtin_shufflevector(a[c], a[c + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    b[c + 1] = __builtin_shufflevector(a[c], a[c + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int half = 0; half < 8; half += 4) {
    for (int c = half; c < half + 2; ++c) {
      a[c] = __builtin_shufflevector(b[c], b[c + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      a[c + 2] = __builtin_shufflevector(b[c], b[c + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (int c = 0; c < 4; ++c) {
    rows[c] = __builtin_shufflevector(a[c], a[c + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    rows[c + 4] = __builtin_shufflevector(a[c], a[c + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

#endif

// out[r * stride + c] = x[c * step + r] for 0 <= r < rows and 0 <= c < columns, in double.
template <Isa isa, class T>
TIKHON_INLINE void copy_transposed(const T* TIKHON_RESTRICT x, Index step, Index rows,
                                   Index columns, double* TIKHON_RESTRICT out, Index stride) {
  Index r = 0;
#if TIKHON_HAS_SHUFFLES
  if constexpr (transposes_in_registers<isa>()) {
    for (; r + 8 <= rows; r += 8) {
      Index c = 0;
      for (; c + 8 <= columns; c += 8) {
        EightDoubles block[8];
        transpose_eight(x + c * step + r, step, block);
        for (int k = 0; k < 8; ++k) {
          store_eight(out + (r + k) * stride + c, block[k]);
        }
      }
      for (; c < columns; ++c) {
        for (int k = 0; k < 8; ++k) {
          out[(r + k) * stride + c] = double(x[c * step + r + k]);
        }
      }
    }
  }
#endif
  for (Index c = 0; c < columns; ++c) {
    for (Index k = r; k < rows; ++k) {
      out[k * stride + c] = double(x[c * step + k]);
    }
  }
}

}  // namespace tikhon
