#include "support_vectors.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tikhon/dual_descent.hpp"
#include "tikhon/kernel_table.hpp"
#include "tikhon/parallel.hpp"
#include "tikhon/row_cache.hpp"
#include "tikhon/smo.hpp"
#include "tikhon/stop.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using tikhon::Index;
using tikhon::KernelTable;

template <class T>
using Run = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Square = nb::ndarray<const T, nb::numpy, nb::ndim<2>, nb::device::cpu>;
using Vector = Run<double>;
using Rows = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using MutableRows = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using MutableVector = nb::ndarray<double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MutableIndices = nb::ndarray<Index, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

tikhon::KernelFunction function(int kind, double gamma, double coef0, int degree, double plus) {
  return {static_cast<tikhon::KernelKind>(kind), gamma, coef0, degree, plus};
}

std::unique_ptr<KernelTable> dense(Rows X, int kind, double gamma, double coef0, int degree,
                                   double plus) {
  return tikhon::dense_kernel(X.data(), static_cast<Index>(X.shape(0)),
                              static_cast<Index>(X.shape(1)),
                              function(kind, gamma, coef0, degree, plus));
}

template <class I>
std::unique_ptr<KernelTable> sparse(Vector values, Run<I> columns, Run<I> starts, Index d, int kind,
                                    double gamma, double coef0, int degree, double plus) {
  return tikhon::sparse_kernel(values.data(), columns.data(), starts.data(),
                               static_cast<Index>(starts.shape(0)) - 1, d,
                               function(kind, gamma, coef0, degree, plus));
}

template <class T>
std::unique_ptr<KernelTable> stored(Square<T> K, double plus) {
  return tikhon::stored_kernel(K.data(), static_cast<Index>(K.shape(0)), K.stride(0), plus);
}

std::unique_ptr<KernelTable> called(nb::callable rows, Vector diagonal, double plus) {
  std::vector<double> values(diagonal.data(), diagonal.data() + diagonal.shape(0));
  const auto n = values.size();
  auto row = [rows, n](Index i, double* out) {
    const nb::gil_scoped_acquire held;
    const auto made = nb::cast<Vector>(rows(i));
    if (made.shape(0) != n) {
      throw nb::value_error("a row of the kernel matrix has the wrong length");
    }
    std::copy_n(made.data(), n, out);
  };
  return tikhon::called_kernel(std::move(row), std::move(values), plus);
}

// Some rows of the matrix against some others, (rows, columns).
void block(const KernelTable& table, Run<Index> rows, Run<Index> columns, MutableRows out,
           int threads) {
  const Index count = static_cast<Index>(rows.shape(0));
  const Index width = static_cast<Index>(columns.shape(0));
  const Index* wanted = rows.data();
  const Index* against = columns.data();
  double* target = out.data();
  const nb::gil_scoped_release released;
  const auto panel = tikhon::make_panel<double>(table, against, width);
  tikhon::parallel_for(count, 1, threads, [&](Index begin, Index end, int) {
    for (Index i = begin; i < end; ++i) {
      panel->row(wanted[i], 0, width, target + i * width);
    }
  });
}

template <class T>
Index smo_path(const KernelTable& table, tikhon::SharedRows<T>* shared, Vector target, Vector lower,
               Vector upper, double tube, bool constrained, Vector strengths, double gap,
               Index steps, Index cache_bytes, int threads, bool exact, std::optional<Vector> start,
               MutableRows beta, MutableRows residual, MutableVector offsets, MutableVector gaps,
               MutableIndices taken, MutableIndices status, const tikhon::Stop& stop) {
  const tikhon::SmoProblem problem{target.data(), lower.data(), upper.data(), tube, constrained};
  const tikhon::SmoOptions options{gap, steps, cache_bytes, threads, exact};
  const Index count = static_cast<Index>(strengths.shape(0));
  std::vector<tikhon::SmoSolution> solutions(count);
  const double* first = start ? start->data() : nullptr;
  Index solved = 0;
  {
    const nb::gil_scoped_release released;
    solved = tikhon::smo_path<T>(table, shared, problem, strengths.data(), count, options, first,
                                 beta.data(), residual.data(), solutions.data(), stop);
  }
  for (Index k = 0; k < solved; ++k) {
    offsets.data()[k] = solutions[k].offset;
    gaps.data()[k] = solutions[k].gap;
    taken.data()[k] = solutions[k].steps;
    status.data()[k] = static_cast<Index>(solutions[k].status);
  }
  return solved;
}

template <class T>
void define_smo(nb::module_& m, const char* rows, const char* path) {
  nb::class_<tikhon::SharedRows<T>>(m, rows)
      .def(nb::init<const KernelTable&>(), "table"_a, nb::keep_alive<1, 2>())
      .def_static("bytes", &tikhon::SharedRows<T>::bytes, "n"_a);
  m.def(path, &smo_path<T>, "table"_a, "shared"_a.none(), "target"_a.noconvert(),
        "lower"_a.noconvert(), "upper"_a.noconvert(), "tube"_a, "constrained"_a,
        "strengths"_a.noconvert(), "gap"_a, "steps"_a, "cache_bytes"_a, "threads"_a, "exact"_a,
        "start"_a.noconvert().none(), "beta"_a.noconvert(), "residual"_a.noconvert(),
        "offsets"_a.noconvert(), "gaps"_a.noconvert(), "taken"_a.noconvert(),
        "status"_a.noconvert(), "stop"_a);
}

// The arguments of dual descent that follow a table, the same for every kind of table.
struct DescentArguments {
  tikhon::DualProblem problem;
  tikhon::DualOptions options;
  Vector strengths;
  std::optional<Vector> start;
  MutableRows beta;
  MutableRows w;
  MutableRows outcomes;  // offset, gap, sweeps, status
};

template <class Table>
Index run_dual_descent(const Table& X, const DescentArguments& with, const tikhon::Stop& stop) {
  const Index count = static_cast<Index>(with.strengths.shape(0));
  std::vector<tikhon::DualSolution> solutions(count);
  Index solved = 0;
  {
    const nb::gil_scoped_release released;
    solved = tikhon::dual_descent(X, with.problem, with.strengths.data(), count, with.options,
                                  with.start ? with.start->data() : nullptr, with.beta.data(),
                                  with.w.data(), solutions.data(), stop);
  }
  for (Index k = 0; k < solved; ++k) {
    double* row = with.outcomes.data() + 4 * k;
    row[0] = solutions[k].offset;
    row[1] = solutions[k].gap;
    row[2] = solutions[k].active_sweeps;
    row[3] = static_cast<double>(solutions[k].status);
  }
  return solved;
}

tikhon::DualProblem dual_problem(const Vector& target, const Vector& lower, const Vector& upper,
                                 const Vector& quadratic, const Vector& mean, double tube,
                                 double rho, bool free) {
  return {target.data(), lower.data(), upper.data(), quadratic.data(),
          mean.data(),   tube,         rho,          free};
}

template <class T, class I>
Index sparse_dual_descent(Run<T> values, Run<I> columns, Run<I> starts, Vector target, Vector lower,
                          Vector upper, Vector quadratic, Vector mean, double tube, double rho,
                          bool free, Vector strengths, double gap, Index sweeps, Index patience,
                          std::optional<Vector> start, MutableRows beta, MutableRows w,
                          MutableRows outcomes, const tikhon::Stop& stop) {
  const tikhon::SparseRows<T, I> X{values.data(), columns.data(), starts.data(),
                                   static_cast<Index>(target.shape(0)),
                                   static_cast<Index>(mean.shape(0))};
  return run_dual_descent(X,
                          {dual_problem(target, lower, upper, quadratic, mean, tube, rho, free),
                           {gap, sweeps, patience},
                           strengths,
                           start,
                           beta,
                           w,
                           outcomes},
                          stop);
}

template <class T>
Index dense_dual_descent(Square<T> values, Vector shift, Vector target, Vector lower, Vector upper,
                         Vector quadratic, Vector mean, double tube, double rho, bool free,
                         Vector strengths, double gap, Index sweeps, Index patience,
                         std::optional<Vector> start, MutableRows beta, MutableRows w,
                         MutableRows outcomes, const tikhon::Stop& stop) {
  const tikhon::DenseRows<T> X{values.data(), values.stride(0), shift.data(),
                               static_cast<Index>(target.shape(0)),
                               static_cast<Index>(mean.shape(0))};
  return run_dual_descent(X,
                          {dual_problem(target, lower, upper, quadratic, mean, tube, rho, free),
                           {gap, sweeps, patience},
                           strengths,
                           start,
                           beta,
                           w,
                           outcomes},
                          stop);
}

template <class T, class I>
void define_sparse_descent(nb::module_& m) {
  m.def("sparse_dual_descent", &sparse_dual_descent<T, I>, "values"_a.noconvert(),
        "columns"_a.noconvert(), "starts"_a.noconvert(), "target"_a.noconvert(),
        "lower"_a.noconvert(), "upper"_a.noconvert(), "quadratic"_a.noconvert(),
        "mean"_a.noconvert(), "tube"_a, "rho"_a, "free"_a, "strengths"_a.noconvert(), "gap"_a,
        "sweeps"_a, "patience"_a, "start"_a.noconvert().none(), "beta"_a.noconvert(),
        "w"_a.noconvert(), "outcomes"_a.noconvert(), "stop"_a);
}

template <class T>
void define_dense_descent(nb::module_& m) {
  m.def("dense_dual_descent", &dense_dual_descent<T>, "values"_a.noconvert(), "shift"_a.noconvert(),
        "target"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(),
        "quadratic"_a.noconvert(), "mean"_a.noconvert(), "tube"_a, "rho"_a, "free"_a,
        "strengths"_a.noconvert(), "gap"_a, "sweeps"_a, "patience"_a, "start"_a.noconvert().none(),
        "beta"_a.noconvert(), "w"_a.noconvert(), "outcomes"_a.noconvert(), "stop"_a);
}

}  // namespace

void define_support_vectors(nb::module_& m) {
  nb::class_<KernelTable>(m, "KernelTable").def_prop_ro("size", &KernelTable::size);
  m.def("dense_kernel", &dense, "X"_a.noconvert(), "kind"_a, "gamma"_a, "coef0"_a, "degree"_a,
        "plus"_a, nb::keep_alive<0, 1>());
  m.def("sparse_kernel", &sparse<std::int32_t>, "values"_a.noconvert(), "columns"_a.noconvert(),
        "starts"_a.noconvert(), "d"_a, "kind"_a, "gamma"_a, "coef0"_a, "degree"_a, "plus"_a,
        nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
  m.def("sparse_kernel", &sparse<std::int64_t>, "values"_a.noconvert(), "columns"_a.noconvert(),
        "starts"_a.noconvert(), "d"_a, "kind"_a, "gamma"_a, "coef0"_a, "degree"_a, "plus"_a,
        nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
  m.def("stored_kernel", &stored<float>, "K"_a.noconvert(), "plus"_a, nb::keep_alive<0, 1>());
  m.def("stored_kernel", &stored<double>, "K"_a.noconvert(), "plus"_a, nb::keep_alive<0, 1>());
  m.def("called_kernel", &called, "rows"_a, "diagonal"_a.noconvert(), "plus"_a);
  m.def("kernel_block", &block, "table"_a, "rows"_a.noconvert(), "columns"_a.noconvert(),
        "out"_a.noconvert(), "threads"_a);
  define_sparse_descent<float, std::int32_t>(m);
  define_sparse_descent<double, std::int32_t>(m);
  define_sparse_descent<float, std::int64_t>(m);
  define_sparse_descent<double, std::int64_t>(m);
  define_dense_descent<float>(m);
  define_dense_descent<double>(m);
  define_smo<float>(m, "SharedRows32", "smo_path32");
  define_smo<double>(m, "SharedRows64", "smo_path64");
}
