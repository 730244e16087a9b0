// Numbers as unevaluated sums hi + lo of two doubles: about 32 digits.
//
// The error-free transformations of Dekker, Knuth and Veltkamp: each returns the rounded result
// and its exact rounding error. They need every operation rounded as written, hence no
// -ffast-math and no contraction.
//
// Range. Sums are exact unless they overflow. A product is exact when |a b| lies in
// [1e-290, 1e300] (below, its error falls under the smallest double) and, without FMA, when |a|
// and |b| are below 6e299, because splitting a number in halves multiplies it by 2^27.
#pragma once

#include <cmath>

#include "tikhon/multiversion.hpp"

namespace tikhon {

struct Pair {
  double hi;
  double lo;
};

// For |a| >= |b|.
TIKHON_INLINE Pair quick_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

TIKHON_INLINE Pair two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

TIKHON_INLINE Pair two_difference(double a, double b) {
  const double difference = a - b;
  const double b_part = difference - a;
  return {difference, (a - (difference - b_part)) - (b + b_part)};
}

// The upper 26 bits of a, and the rest.
TIKHON_INLINE Pair split(double a) {
  const double spread = 134217729.0 * a;  // 2^27 + 1
  const double upper = spread - (spread - a);
  return {upper, a - upper};
}

template <bool fma>
TIKHON_INLINE Pair two_product(double a, double b) {
  const double product = a * b;
  if constexpr (fma) {
    return {product, std::fma(a, b, -product)};
  } else {
    const Pair x = split(a);
    const Pair y = split(b);
    return {product, ((x.hi * y.hi - product) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo};
  }
}

// a b to a relative error of a few 2^-106; the result is not normalised.
template <bool fma>
TIKHON_INLINE Pair product(Pair a, Pair b) {
  const Pair main = two_product<fma>(a.hi, b.hi);
  return {main.hi, main.lo + (a.hi * b.lo + a.lo * b.hi)};
}

// a + b to an error of a few 2^-106 (|a| + |b|), normalised: enough to accumulate with.
TIKHON_INLINE Pair accumulate(Pair a, Pair b) {
  const Pair sum = two_sum(a.hi, b.hi);
  return quick_two_sum(sum.hi, sum.lo + (a.lo + b.lo));
}

TIKHON_INLINE Pair negative(Pair a) {
  return {-a.hi, -a.lo};
}

}  // namespace tikhon
