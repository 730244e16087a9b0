// Checks of the kernels without Python, so that they can run under the sanitizers. The fine laws
// are tested from Python; here every path is walked: layouts, instruction sets, threads, edges.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tikhon/compensated.hpp"
#include "tikhon/cyclic_sweep.hpp"
#include "tikhon/gather.hpp"
#include "tikhon/hash_rows.hpp"
#include "tikhon/multiversion.hpp"
#include "tikhon/parallel.hpp"
#include "tikhon/scan.hpp"
#include "tikhon/stochastic.hpp"

namespace {

using tikhon::Index;
using tikhon::Isa;

int failures = 0;

void check(bool ok, const std::string& what) {
  if (!ok) {
    ++failures;
    std::printf("FAILED: %s\n", what.c_str());
  }
}

template <class Exception, class Function>
void check_throws(const Function& function, const std::string& what) {
  try {
    function();
  } catch (const Exception&) {
    return;
  }
  check(false, what);
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

enum class Order { c, fortran, strided };
constexpr Order kOrders[] = {Order::c, Order::fortran, Order::strided};
constexpr Isa kIsas[] = {Isa::baseline, Isa::avx2, Isa::avx512};
constexpr int kThreads[] = {1, 2, 3};

struct Shape {
  Index n;
  Index d;
};
constexpr Shape kShapes[] = {{0, 3},   {3, 0},    {1, 1},     {1, 700},   {5, 3},
                             {33, 17}, {2100, 5}, {1030, 70}, {70000, 1}, {130, 1100}};

// A matrix that owns its entries, exactly as many as it needs, so that ASan sees every overrun.
template <class T>
class Owned {
 public:
  Owned(Shape shape, Order order) : shape_(shape), order_(order) {
    const Index gap = order == Order::strided ? 3 : 1;
    row_stride_ = order == Order::c ? shape.d : gap;
    column_stride_ = order == Order::c ? 1 : gap * shape.n;
    const bool empty = shape.n == 0 || shape.d == 0;
    entries_.resize(empty ? 0 : (shape.n - 1) * row_stride_ + (shape.d - 1) * column_stride_ + 1);
  }

  T& operator()(Index i, Index j) { return entries_[i * row_stride_ + j * column_stride_]; }

  tikhon::Matrix<T> view() const {
    return {entries_.data(), shape_.n, shape_.d, row_stride_, column_stride_};
  }

 private:
  Shape shape_;
  Order order_;
  Index row_stride_;
  Index column_stride_;
  std::vector<T> entries_;
};

// Whole numbers: sums and products of them are exact, whatever the order.
template <class T>
Owned<T> whole_numbers(Shape shape, Order order) {
  Owned<T> X(shape, order);
  for (Index i = 0; i < shape.n; ++i) {
    for (Index j = 0; j < shape.d; ++j) {
      X(i, j) = static_cast<T>((i * 7919 + j * 104729) % 1021 - 510);
    }
  }
  return X;
}

// Calls `body(isa, threads)` for every instruction set and number of threads.
template <class Body>
void everywhere(const Body& body) {
  for (const Isa isa : kIsas) {
    tikhon::limit_isa(isa);
    for (const int threads : kThreads) {
      body(isa, threads);
    }
  }
  tikhon::limit_isa(Isa::avx512);
}

void test_parallel_for() {
  for (const Index n : {Index{0}, Index{1}, Index{7}, Index{1000}}) {
    for (const int threads : {1, 2, 5}) {
      std::vector<int> seen(static_cast<std::size_t>(n), 0);
      std::atomic<bool> aligned{true};
      const bool all = tikhon::parallel_for(n, 3, threads, [&](Index begin, Index end, int worker) {
        const bool whole = begin % 3 == 0 && end == std::min(begin + 3, n);
        if (!whole || worker < 0 || worker >= tikhon::worker_count(n, 3, threads)) {
          aligned = false;
        }
        for (Index i = begin; i < end; ++i) {
          ++seen[i];
        }
      });
      check(all && aligned, "chunks do not depend on the number of threads");
      check(std::count(seen.begin(), seen.end(), 1) == n, "every index is visited once");
    }
  }

  std::atomic<int> visited{0};
  check_throws<std::runtime_error>(
      [&] {
        tikhon::parallel_for(100000, 1, 3, [&](Index begin, Index, int) {
          ++visited;
          if (begin == 10) {
            throw std::runtime_error("ten");
          }
        });
      },
      "an exception reaches the caller");
  check(visited < 100000, "an exception ends the loop");

  std::atomic<bool> stop{false};
  std::atomic<int> begun{0};
  const bool all = tikhon::parallel_for(
      100000, 1, 2,
      [&](Index, Index, int) {
        if (++begun == 5) {
          stop = true;
        }
      },
      &stop);
  check(!all && begun < 100000, "a loop can be stopped");
}

template <class T>
void test_scan() {
  for (const Shape shape : kShapes) {
    for (const Order order : kOrders) {
      Owned<T> X = whole_numbers<T>(shape, order);
      const auto d = static_cast<std::size_t>(shape.d);
      std::vector<double> sums(d, 0.0), low(d, INFINITY), high(d, -INFINITY);
      std::vector<Index> nonfinite(d, 0);
      if (shape.n > 2 && shape.d > 0) {
        X(shape.n / 2, shape.d - 1) = std::numeric_limits<T>::quiet_NaN();
        X(shape.n - 1, shape.d - 1) = std::numeric_limits<T>::infinity();
      }
      for (Index i = 0; i < shape.n; ++i) {
        for (Index j = 0; j < shape.d; ++j) {
          sums[j] += double(X(i, j));
          low[j] = std::min(low[j], std::isnan(X(i, j)) ? INFINITY : double(X(i, j)));
          high[j] = std::max(high[j], std::isnan(X(i, j)) ? -INFINITY : double(X(i, j)));
          nonfinite[j] += !std::isfinite(X(i, j));
        }
      }
      everywhere([&](Isa, int threads) {
        std::vector<double> s(d), a(d), b(d);
        std::vector<Index> f(d);
        tikhon::scan(X.view(), {s.data(), a.data(), b.data(), f.data()}, threads);
        bool equal = a == low && b == high && f == nonfinite;
        for (std::size_t j = 0; j < d; ++j) {
          equal = equal && (s[j] == sums[j] || (std::isnan(s[j]) && std::isnan(sums[j])));
        }
        check(equal, "scan agrees with the plain loop");
      });
    }
  }
}

template <class T>
void test_gather() {
  for (const Shape shape : kShapes) {
    if (shape.n == 0) {
      continue;
    }
    std::vector<Index> some(static_cast<std::size_t>(shape.n + shape.n / 2));
    std::mt19937_64 random(5);
    for (Index& row : some) {
      row = static_cast<Index>(random() % static_cast<std::uint64_t>(shape.n));
    }
    std::vector<Index> sorted = some;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::vector<double> shift(shape.d), column_scale(shape.d), scale(some.size());
    for (Index j = 0; j < shape.d; ++j) {
      shift[j] = 0.1 * double(j);
      column_scale[j] = 1.0 / double(j + 3);
    }
    for (std::size_t i = 0; i < scale.size(); ++i) {
      scale[i] = 1.0 + 0.3 * double(i);
    }
    const tikhon::RowChoice choices[] = {
        {some.data(), 0, Index(some.size())},
        {sorted.data(), 0, Index(sorted.size())},
        {nullptr, shape.n / 3, shape.n - shape.n / 3},
        {nullptr, 0, 0},
    };
    for (const Order order : kOrders) {
      Owned<T> X = whole_numbers<T>(shape, order);
      for (const tikhon::RowChoice& rows : choices) {
        std::vector<double> plain(rows.count * shape.d), full(rows.count * shape.d);
        for (Index i = 0; i < rows.count; ++i) {
          for (Index j = 0; j < shape.d; ++j) {
            const auto x = double(X(rows[i], j));
            plain[i * shape.d + j] = x;
            full[i * shape.d + j] = (x - shift[j]) * column_scale[j] * scale[i];
          }
        }
        everywhere([&](Isa, int threads) {
          std::vector<double> out(plain.size(), -1.0);
          tikhon::gather(X.view(), rows, {nullptr, nullptr, nullptr}, out.data(), threads);
          check(same_bits(out, plain), "gather copies rows");
          tikhon::gather(X.view(), rows, {shift.data(), column_scale.data(), scale.data()},
                         out.data(), threads);
          check(same_bits(out, full), "gather shifts and scales rows");
        });
      }
    }
  }

  Owned<T> X = whole_numbers<T>({4, 2}, Order::c);
  double out[10];
  const Index wrong[] = {0, 4};
  check_throws<std::out_of_range>([&] { tikhon::gather(X.view(), {wrong, 0, 2}, {}, out, 1); },
                                  "a row beyond the last");
  check_throws<std::out_of_range>([&] { tikhon::gather(X.view(), {nullptr, 2, 3}, {}, out, 1); },
                                  "a range beyond the last");
  check_throws<std::out_of_range>([&] { tikhon::gather(X.view(), {nullptr, -1, 2}, {}, out, 1); },
                                  "a range before the first");
}

// Sums of three bands of whole numbers, 2^-45, 1 and 2^45 apart: the result in double-double is
// exact, while any double loses one of the bands.
template <class T>
void test_compensated() {
  const double small = std::ldexp(1.0, -45);
  const double large = std::ldexp(1.0, 45);
  for (const Shape shape : kShapes) {
    const auto n = static_cast<std::size_t>(shape.n);
    const auto d = static_cast<std::size_t>(shape.d);
    std::vector<double> c(d), w_hi(d), w_lo(d), y(n), r_hi(n), r_lo(n), s(n);
    for (std::size_t j = 0; j < d; ++j) {
      c[j] = double(j % 3) * large;
      w_hi[j] = double(j % 11) - 5.0;
      w_lo[j] = (double(j % 2)) * std::ldexp(1.0, -55) * (w_hi[j] != 0.0 ? 1.0 : 0.0);
    }
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = double(i % 101);
      r_hi[i] = double(i % 7) - 3.0;
      r_lo[i] = r_hi[i] == 0.0 ? 0.0 : std::ldexp(double(i % 3), -56);
      s[i] = double(i % 5);
    }
    std::vector<double> first[6];
    for (const Order order : kOrders) {
      const Owned<T> X = whole_numbers<T>(shape, order);
      everywhere([&](Isa, int threads) {
        std::vector<double> a_hi(n), a_lo(n), g_hi(d, 1.0), g_lo(d, 0.0);
        tikhon::residual_dd(X.view(), c.data(), y.data(), {w_hi.data(), w_lo.data()},
                            {1.0, small * 0x1p-10}, {a_hi.data(), a_lo.data()}, threads);
        const tikhon::Pair total =
            tikhon::correlate_dd(X.view(), c.data(), s.data(), {r_hi.data(), r_lo.data()},
                                 {g_hi.data(), g_lo.data()}, threads);
        const std::vector<double> sum{total.hi, total.lo};
        const std::vector<double>* got[] = {&a_hi, &a_lo, &g_hi, &g_lo, &sum};
        for (int k = 0; k < 5; ++k) {
          if (first[5].empty()) {
            first[k] = *got[k];
          }
          check(same_bits(first[k], *got[k]), "double-double results are the same everywhere");
        }
        first[5] = {1.0};
      });
    }

    // Apart from the shift's band, everything is a whole multiple of 2^-56, counted here.
    Owned<T> X = whole_numbers<T>(shape, Order::c);
    std::int64_t total_units = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto bands = static_cast<std::int64_t>(std::ldexp(r_lo[i], 56));
      total_units += static_cast<std::int64_t>(s[i]) * bands;
    }
    double total_whole = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      total_whole += s[i] * r_hi[i];
    }
    std::vector<double> g_hi(d, 0.0), g_lo(d, 0.0), a_hi(n), a_lo(n);
    const tikhon::Pair total = tikhon::correlate_dd(
        X.view(), nullptr, s.data(), {r_hi.data(), r_lo.data()}, {g_hi.data(), g_lo.data()}, 2);
    const double rest = std::ldexp(double(total_units), -56);
    check((total.hi - total_whole) + total.lo == rest, "the sum of s r is exact");
    tikhon::residual_dd(X.view(), nullptr, y.data(), {w_hi.data(), w_lo.data()}, {0.5, 0.0},
                        {a_hi.data(), a_lo.data()}, 2);
    for (std::size_t i = 0; i < n; ++i) {
      double whole = y[i] - 0.5, low = 0.0;
      for (std::size_t j = 0; j < d; ++j) {
        whole -= double(X(Index(i), Index(j))) * w_hi[j];
        low -= double(X(Index(i), Index(j))) * w_lo[j];
      }
      check((a_hi[i] - whole) + a_lo[i] == low, "the residual is exact");
    }
  }
}

void test_two_product_without_fma() {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> number(-1e10, 1e10);
  for (int k = 0; k < 10000; ++k) {
    const double a = number(random), b = number(random);
    const tikhon::Pair dekker = tikhon::two_product<false>(a, b);
    const tikhon::Pair fused = tikhon::two_product<true>(a, b);
    check(dekker.hi == fused.hi && dekker.lo == fused.lo, "Dekker's product is exact");
  }
}

template <class T>
void test_hash() {
  for (const Shape shape : kShapes) {
    std::vector<std::int32_t> exponent(shape.d);
    for (Index j = 0; j < shape.d; ++j) {
      exponent[j] = static_cast<std::int32_t>(j % 40) - 20;
    }
    std::vector<std::uint64_t> first;
    for (const Order order : kOrders) {
      Owned<T> X = whole_numbers<T>(shape, order);
      for (Index i = 0; i < shape.n; ++i) {
        for (Index j = i % 3; j < shape.d; j += 3) {
          X(i, j) = T(i % 2 == 0 ? 0.0 : -0.0);
        }
      }
      std::vector<T> values;
      std::vector<std::int32_t> indices;
      std::vector<std::int32_t> starts{0};
      for (Index i = 0; i < shape.n; ++i) {
        for (Index j = shape.d - 1; j >= 0; --j) {
          if (X(i, j) != 0) {
            values.insert(values.end(), {X(i, j) - 1, T(1)});
            indices.insert(indices.end(), 2, static_cast<std::int32_t>(j));
          }
        }
        starts.push_back(static_cast<std::int32_t>(values.size()));
      }
      everywhere([&](Isa, int threads) {
        std::vector<std::uint64_t> dense(shape.n), sparse(shape.n);
        tikhon::hash_rows(X.view(), exponent.data(), dense.data(), threads);
        tikhon::hash_rows(
            tikhon::CompressedRows<T, std::int32_t>{values.data(), indices.data(), starts.data(),
                                                    shape.n, shape.d, Index(values.size())},
            exponent.data(), sparse.data(), threads);
        first = first.empty() ? dense : first;
        check(same_bits(dense, first), "hashes do not depend on the layout");
        check(same_bits(sparse, first), "sparse rows hash as dense rows do");
      });
    }
  }

  const T values[] = {1, 2};
  std::uint64_t hashes[1];
  const auto hash = [&](std::int64_t column, std::int64_t end, std::int32_t exponent) {
    const std::int64_t indices[] = {0, column};
    const std::int64_t starts[] = {0, end};
    const std::int32_t exponents[] = {0, exponent};
    tikhon::hash_rows(tikhon::CompressedRows<T, std::int64_t>{values, indices, starts, 1, 2, 2},
                      exponents, hashes, 1);
  };
  check_throws<std::invalid_argument>([&] { hash(2, 2, 0); }, "a column beyond the last");
  check_throws<std::invalid_argument>([&] { hash(-1, 2, 0); }, "a negative column");
  check_throws<std::invalid_argument>([&] { hash(1, 3, 0); }, "a row beyond the entries");
  check_throws<std::invalid_argument>([&] { hash(1, -1, 0); }, "a row that ends before it starts");
  check_throws<std::invalid_argument>([&] { hash(1, 2, 2000); }, "an exponent out of range");
}

// A small matrix by rows, by compressed rows and by compressed columns, without its zeros.
struct Small {
  static constexpr Index n = 23;
  static constexpr Index d = 19;
  std::vector<double> rows = std::vector<double>(n * d, 0.0);
  std::vector<double> row_values, column_values;
  std::vector<std::int32_t> columns_of, rows_of;
  std::vector<std::int32_t> row_starts{0}, column_starts{0};

  Small() {
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    for (double& x : rows) {
      x = random() % 3 == 0 ? 0.0 : normal(random) / 4.0;
    }
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < d; ++j) {
        if (rows[i * d + j] != 0.0) {
          row_values.push_back(rows[i * d + j]);
          columns_of.push_back(static_cast<std::int32_t>(j));
        }
      }
      row_starts.push_back(static_cast<std::int32_t>(row_values.size()));
    }
    for (Index j = 0; j < d; ++j) {
      for (Index i = 0; i < n; ++i) {
        if (rows[i * d + j] != 0.0) {
          column_values.push_back(rows[i * d + j]);
          rows_of.push_back(static_cast<std::int32_t>(i));
        }
      }
      column_starts.push_back(static_cast<std::int32_t>(column_values.size()));
    }
  }
};

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

void test_stochastic() {
  const Small X;
  std::vector<Index> order(Small::n);
  std::iota(order.begin(), order.end(), Index{0});
  std::vector<double> y(Small::n);
  for (Index i = 0; i < Small::n; ++i) {
    y[i] = i % 2 == 0 ? 1.0 : -1.0;
  }
  const std::vector<double> weight(Small::n, 1.5);
  const tikhon::BlockOfRows block{X.rows.data(), Small::d};
  const tikhon::ChosenRows<double, std::int32_t> chosen{
      X.row_values.data(), X.columns_of.data(), X.row_starts.data(), order.data(), Small::d};
  for (const char* loss : {"squared", "logistic", "hinge", "squared_hinge", "huber", "quantile",
                           "epsilon_insensitive", "poisson", "gamma"}) {
    for (Index size : {Index{1}, Index{4}, Small::n}) {
      const auto batches = static_cast<std::size_t>(tikhon::ceil_div(Small::n, size));
      const std::vector<double> shrink(batches, 0.5), gain(batches, 0.05), step(batches, 0.01);
      for (const double* threshold : {static_cast<const double*>(nullptr), step.data()}) {
        for (double radius : {0.1, std::numeric_limits<double>::infinity()}) {
          const tikhon::Batches with{y.data(),    weight.data(), Small::n, size, shrink.data(),
                                     gain.data(), threshold,     radius,   true};
          std::vector<double> w[2], total[2], offset[2], slopes[2];
          for (int hand : {0, 1}) {
            w[hand].assign(Small::d, 0.2);
            total[hand].assign(Small::d, 0.0);
            offset[hand].assign(2, 0.0);
            slopes[hand].assign(Small::n, 0.0);
            const tikhon::Iterates at{w[hand].data(), total[hand].data(), offset[hand].data(),
                                      slopes[hand].data()};
            if (hand == 0) {
              tikhon::stochastic_pass(block, with, loss, 0.3, at);
            } else {
              tikhon::stochastic_pass(chosen, with, loss, 0.3, at);
            }
          }
          const std::string what = std::string("stochastic pass, ") + loss;
          check(largest_difference(w[0], w[1]) < 1e-12, what + ": coefficients");
          check(largest_difference(total[0], total[1]) < 1e-11, what + ": sums");
          check(largest_difference(offset[0], offset[1]) < 1e-11, what + ": offset");
          check(largest_difference(slopes[0], slopes[1]) < 1e-12, what + ": slopes");
        }
      }
    }
  }
  std::vector<double> w(Small::d), offset(2);
  const std::vector<double> one(Small::n, 1.0);
  const tikhon::Batches with{y.data(),   nullptr, Small::n, 1,    one.data(),
                             one.data(), nullptr, 1.0,      false};
  check_throws<std::invalid_argument>(
      [&] {
        tikhon::stochastic_pass(block, with, "unheard of", 0.0,
                                {w.data(), nullptr, offset.data(), nullptr});
      },
      "a loss that is not compiled");
}

void test_cyclic_sweep() {
  const Small X;
  std::vector<double> by_columns(Small::n * Small::d), zero(Small::d, 0.0), l1(Small::d, 0.02),
      upper(Small::d, 0.3), lower(Small::d, -0.3), mean(Small::d, 0.0), curvature(Small::d, 0.0),
      p(Small::n, 1.0 / Small::n);
  for (Index j = 0; j < Small::d; ++j) {
    for (Index i = 0; i < Small::n; ++i) {
      by_columns[j * Small::n + i] = X.rows[i * Small::d + j];
      mean[j] += p[i] * X.rows[i * Small::d + j];
    }
    for (Index i = 0; i < Small::n; ++i) {
      const double centred = X.rows[i * Small::d + j] - mean[j];
      curvature[j] += p[i] * centred * centred;
    }
  }
  const tikhon::DenseColumns<double> dense{by_columns.data(), Small::n, mean.data(), Small::n,
                                           Small::d};
  const tikhon::SparseColumns<double, std::int32_t> sparse{
      X.column_values.data(), X.rows_of.data(), X.column_starts.data(), Small::n, Small::d};
  const tikhon::CoordinatePenalty penalty{l1.data(), zero.data(), lower.data(), upper.data()};
  std::vector<double> w[2], residual[2];
  for (int hand : {0, 1}) {
    w[hand].assign(Small::d, 0.0);
    std::vector<double> q(Small::n);
    for (Index i = 0; i < Small::n; ++i) {
      q[i] = p[i] * (i % 2 == 0 ? 1.0 : -1.0) - p[i] * (1.0 / Small::n);
    }
    tikhon::WeightedResidual left{q.data(), 0.0};
    for (int sweep = 0; sweep < 5; ++sweep) {
      if (hand == 0) {
        tikhon::cyclic_sweep(dense, {p.data(), zero.data(), curvature.data()}, penalty, 0.1, 0,
                             Small::d, w[hand].data(), &left);
      } else {
        tikhon::cyclic_sweep(sparse, {p.data(), mean.data(), curvature.data()}, penalty, 0.1, 0,
                             Small::d, w[hand].data(), &left);
      }
    }
    for (Index i = 0; i < Small::n; ++i) {
      residual[hand].push_back(q[i] + left.k * p[i]);
    }
  }
  check(largest_difference(w[0], w[1]) < 1e-12, "cyclic sweep: coefficients");
  check(largest_difference(residual[0], residual[1]) < 1e-13, "cyclic sweep: residuals");
}

}  // namespace

int main() {
  test_parallel_for();
  test_scan<float>();
  test_scan<double>();
  test_gather<float>();
  test_gather<double>();
  test_two_product_without_fma();
  test_compensated<float>();
  test_compensated<double>();
  test_hash<float>();
  test_hash<double>();
  test_stochastic();
  test_cyclic_sweep();
  if (failures > 0) {
    std::printf("%d checks failed\n", failures);
    return 1;
  }
  std::printf("all kernels passed\n");
  return 0;
}
