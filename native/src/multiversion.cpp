#include "tikhon/multiversion.hpp"

#include <algorithm>
#include <atomic>

namespace tikhon {
namespace {

Isa detect() noexcept {
#if TIKHON_HAS_MULTIVERSION
  __builtin_cpu_init();
  // __builtin_cpu_supports also asks whether the operating system saves the wide registers.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("fma")) {
    return Isa::avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return Isa::avx2;
  }
#endif
  return Isa::baseline;
}

std::atomic<Isa> highest_allowed{Isa::avx512};

}  // namespace

Isa current_isa() noexcept {
  static const Isa detected = detect();
  return std::min(detected, highest_allowed.load(std::memory_order_relaxed));
}

void limit_isa(Isa highest) noexcept {
  highest_allowed.store(highest, std::memory_order_relaxed);
}

}  // namespace tikhon
