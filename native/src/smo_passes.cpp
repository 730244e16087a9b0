#include "tikhon/smo_passes.hpp"

#include <algorithm>
#include <limits>

#include "tikhon/multiversion.hpp"
#include "tikhon/row_cache.hpp"

namespace tikhon {
namespace {

constexpr int kLanes = 16;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class V>
TIKHON_INLINE V largest(const V* lane) {
  V best = lane[0];
  for (int l = 1; l < kLanes; ++l) {
    best = lane[l] > best ? lane[l] : best;
  }
  return best;
}

struct MovePair {
  template <Isa isa, class T>
  TIKHON_INLINE static void run(double a, const T* TIKHON_RESTRICT x, double b,
                                const T* TIKHON_RESTRICT y, const double* TIKHON_RESTRICT up,
                                const double* TIKHON_RESTRICT down, double* TIKHON_RESTRICT f,
                                Index width, Extremes* out) {
    double low[kLanes];
    std::fill_n(low, kLanes, kInfinity);
    double best = -kInfinity;
    Index place = 0;
    for (Index base = 0; base < width; base += kRowPad) {
      double high[kLanes];
      std::fill_n(high, kLanes, -kInfinity);
      for (Index k = base; k < base + kRowPad; k += kLanes) {
        for (int l = 0; l < kLanes; ++l) {
          const double moved = f[k + l] - (a * double(x[k + l]) + b * double(y[k + l]));
          f[k + l] = moved;
          const double above = moved + up[k + l];
          const double below = moved + down[k + l];
          high[l] = above > high[l] ? above : high[l];
          low[l] = below < low[l] ? below : low[l];
        }
      }
      const double highest = largest(high);
      if (highest > best) {
        best = highest;
        place = base;
      }
    }
    while (best > -kInfinity && f[place] + up[place] != best) {
      ++place;
    }
    *out = {place, best, *std::min_element(low, low + kLanes)};
  }
};

template <class T>
TIKHON_INLINE float gain(double highest, float d, const T* x, const double* f, const double* down,
                         const float* diagonal, Index k) {
  const float slope = float(highest - (f[k] + down[k]));
  const float curvature = (d + diagonal[k]) - 2.0F * float(x[k]);
  const float least = 1e-6F * (d + diagonal[k]);
  const float safe = curvature > least ? curvature : least;
  const float positive = slope > 0.0F ? slope : 0.0F;
  return positive * positive / safe;
}

struct BestPartner {
  template <Isa isa, class T>
  TIKHON_INLINE static void run(double highest, float d, const T* TIKHON_RESTRICT x,
                                const double* TIKHON_RESTRICT f, const double* TIKHON_RESTRICT down,
                                const float* TIKHON_RESTRICT diagonal, Index width, Index* out) {
    float best = 0.0F;
    Index place = -1;
    for (Index base = 0; base < width; base += kRowPad) {
      float lane[kLanes] = {};
      for (Index k = base; k < base + kRowPad; k += kLanes) {
        for (int l = 0; l < kLanes; ++l) {
          const float value = gain(highest, d, x, f, down, diagonal, k + l);
          lane[l] = value > lane[l] ? value : lane[l];
        }
      }
      const float most = largest(lane);
      if (most > best) {
        best = most;
        place = base;
      }
    }
    while (place >= 0 && gain(highest, d, x, f, down, diagonal, place) != best) {
      ++place;
    }
    *out = place;
  }
};

}  // namespace

template <class T>
Extremes move_pair(double a, const T* x, double b, const T* y, const double* up, const double* down,
                   double* f, Index width) {
  Extremes found{};
  multiversion<MovePair>(a, x, b, y, up, down, f, width, &found);
  return found;
}

template <class T>
Index best_partner(double highest, double d, const T* x, const double* f, const double* down,
                   const float* diagonal, Index width) {
  Index found = -1;
  multiversion<BestPartner>(highest, float(d), x, f, down, diagonal, width, &found);
  return found;
}

template Extremes move_pair(double, const float*, double, const float*, const double*,
                            const double*, double*, Index);
template Extremes move_pair(double, const double*, double, const double*, const double*,
                            const double*, double*, Index);
template Index best_partner(double, double, const float*, const double*, const double*,
                            const float*, Index);
template Index best_partner(double, double, const double*, const double*, const double*,
                            const float*, Index);
}  // namespace tikhon
