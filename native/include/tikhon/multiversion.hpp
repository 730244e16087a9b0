// One loop, compiled for several instruction sets, chosen when it is called.
//
// A loop is written once as a class with an always-inlined static function template
//
//     struct Twice {
//       template <Isa isa> TIKHON_INLINE static void run(double* x, Index n) { ... }
//     };
//
// and called as `multiversion<Twice>(x, n)`. GCC and Clang inline a plain function into one that
// carries a `target` attribute, so the body is compiled three times, for the x86-64 baseline, for
// AVX2 with FMA and for AVX-512; elsewhere only the plain build exists.
//
// Why not `target_clones`: it reads "avx2,fma" as two clones, the first without FMA; its body
// cannot know which clone it is in, which the choice between FMA and Dekker's product needs; its
// ifunc resolvers run before the sanitizers are ready; and no test can reach the slower clones.
//
// Bodies give the same bits under every instruction set: lanes of reductions are written out, and
// contraction to FMA is off (-ffp-contract=off).
#pragma once

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(TIKHON_PLAIN)
#define TIKHON_HAS_MULTIVERSION 1
#define TIKHON_TARGET_AVX2 __attribute__((target("avx2,fma")))
#define TIKHON_TARGET_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma")))
#else
#define TIKHON_HAS_MULTIVERSION 0
#endif

#if defined(__GNUC__) || defined(__clang__)
#define TIKHON_INLINE inline __attribute__((always_inline))
#define TIKHON_RESTRICT __restrict__
#elif defined(_MSC_VER)
#define TIKHON_INLINE __forceinline
#define TIKHON_RESTRICT __restrict
#else
#define TIKHON_INLINE inline
#define TIKHON_RESTRICT
#endif

namespace tikhon {

enum class Isa { baseline, avx2, avx512 };

// The best instruction set of this processor that `limit_isa` allows.
Isa current_isa() noexcept;

// For tests: use nothing above `highest` from now on, in the whole process.
void limit_isa(Isa highest) noexcept;

// Whether a fused multiply-add is one instruction (it is otherwise a slow library call).
template <Isa isa>
constexpr bool has_fma() {
#if defined(__FP_FAST_FMA)
  return true;
#else
  return isa != Isa::baseline;
#endif
}

#if TIKHON_HAS_MULTIVERSION
namespace detail {

template <class Body, class... Arguments>
TIKHON_TARGET_AVX2 void run_avx2(Arguments... arguments) {
  Body::template run<Isa::avx2>(arguments...);
}

template <class Body, class... Arguments>
TIKHON_TARGET_AVX512 void run_avx512(Arguments... arguments) {
  Body::template run<Isa::avx512>(arguments...);
}

}  // namespace detail
#endif

// Arguments are taken by value: pass numbers, pointers and small structures of them.
template <class Body, class... Arguments>
void multiversion(Arguments... arguments) {
#if TIKHON_HAS_MULTIVERSION
  switch (current_isa()) {
    case Isa::avx512:
      return detail::run_avx512<Body>(arguments...);
    case Isa::avx2:
      return detail::run_avx2<Body>(arguments...);
    case Isa::baseline:
      break;
  }
#endif
  Body::template run<Isa::baseline>(arguments...);
}

}  // namespace tikhon
