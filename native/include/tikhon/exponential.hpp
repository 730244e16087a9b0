// exp(x) for x <= 0, a fixed number of lanes at a time, inside loops compiled by `multiversion`.
//
//     x = k log 2 + r,  |r| <= log(2) / 2,      exp(x) = 2^k exp(r)
//
// with k by rounding, r by a two-part log 2 and exp(r) by its Taylor polynomial, which on that
// interval is exact to the last place of the type or the one before. Why not std::exp: it is a call
// for each entry, ten times the price, and its last bit differs from library to library.
#pragma once

#include <cstdint>
#include <cstring>

#include "tikhon/matrix.hpp"
#include "tikhon/multiversion.hpp"

namespace tikhon {
namespace detail {

template <class T>
struct ExpFormat;

template <>
struct ExpFormat<double> {
  using Bits = std::int64_t;
  static constexpr double rounder = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds
  static constexpr double log2_e = 1.4426950408889634074;
  static constexpr double ln2_high = 6.93147180369123816490e-01;
  static constexpr double ln2_low = 1.90821492927058770002e-10;
  static constexpr double lowest = -708.0;  // below, exp(x) is a denormal: 0 is returned
  static constexpr int mantissa = 52;
  static constexpr Bits bias = 1023;
  static constexpr int degree = 13;
};

template <>
struct ExpFormat<float> {
  using Bits = std::int32_t;
  static constexpr float rounder = 12582912.0F;  // 1.5 * 2^23
  static constexpr float log2_e = 1.44269504F;
  static constexpr float ln2_high = 0.693359375F;
  static constexpr float ln2_low = -2.12194440e-4F;
  static constexpr float lowest = -87.0F;
  static constexpr int mantissa = 23;
  static constexpr Bits bias = 127;
  static constexpr int degree = 7;
};

constexpr double inverse_factorial(int k) {
  double value = 1.0;
  for (int i = 2; i <= k; ++i) {
    value /= i;
  }
  return value;
}

template <class T, int k>
TIKHON_INLINE T taylor(T r) {
  constexpr int degree = ExpFormat<T>::degree;
  if constexpr (k == degree) {
    return T(inverse_factorial(degree));
  } else {
    return taylor<T, k + 1>(r) * r + T(inverse_factorial(k));
  }
}

}  // namespace detail

// x <- exp(scale * x) where scale * x <= 0, for `lanes` entries.
template <int lanes, class T>
TIKHON_INLINE void exp_lanes(T scale, T* TIKHON_RESTRICT x) {
  using Format = detail::ExpFormat<T>;
  using Bits = typename Format::Bits;
  T power[lanes];
  T kept[lanes];
  for (int l = 0; l < lanes; ++l) {
    const T v = scale * x[l];
    const T inside = v > Format::lowest ? v : Format::lowest;
    const T shifted = inside * Format::log2_e + Format::rounder;
    const T k = shifted - Format::rounder;
    const T r = (inside - k * Format::ln2_high) - k * Format::ln2_low;
    kept[l] = v > Format::lowest ? detail::taylor<T, 0>(r) : T(0);
    power[l] = shifted;
  }
  Bits bits[lanes];
  std::memcpy(bits, power, sizeof(bits));
  Bits round;
  std::memcpy(&round, &Format::rounder, sizeof(round));
  for (int l = 0; l < lanes; ++l) {
    bits[l] = (bits[l] - round + Format::bias) << Format::mantissa;
  }
  std::memcpy(power, bits, sizeof(bits));
  for (int l = 0; l < lanes; ++l) {
    x[l] = kept[l] * power[l];
  }
}

}  // namespace tikhon
