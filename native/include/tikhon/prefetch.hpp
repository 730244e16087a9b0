// Asking for memory before it is needed, where the processor cannot guess what comes next.
#pragma once

#include "tikhon/matrix.hpp"
#include "tikhon/multiversion.hpp"

namespace tikhon {

constexpr Index cache_line = 64;

// The line of `x`, to be read, or to be written.
TIKHON_INLINE void prefetch(const void* x) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(x);
#else
  (void)x;
#endif
}

TIKHON_INLINE void prefetch_to_write(void* x) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(x, 1);
#else
  (void)x;
#endif
}

// The lines of n entries in a row.
template <class T>
TIKHON_INLINE void prefetch(const T* x, Index n) {
  for (Index i = 0; i < n; i += cache_line / Index{sizeof(T)}) {
    prefetch(static_cast<const void*>(x + i));
  }
}

}  // namespace tikhon
