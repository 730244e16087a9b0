#include "descent.hpp"

#include <nanobind/ndarray.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tikhon/column_path.hpp"
#include "tikhon/gram_path.hpp"
#include "tikhon/group_columns.hpp"
#include "tikhon/group_descent.hpp"
#include "tikhon/stop.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using tikhon::Index;

using Vector = nb::ndarray<const double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MutableVector = nb::ndarray<double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MutableMatrix = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using SquareMatrix = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::device::cpu>;
using Flags = nb::ndarray<int, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Index gram_path(SquareMatrix K, Vector c, Vector l1, Vector l2, Vector lower, Vector upper,
                Vector lams, double relative, double absolute, MutableVector w, MutableMatrix out,
                Flags status, const tikhon::Stop& stop) {
  const tikhon::GramProblem problem{K.data(), c.data(), static_cast<Index>(c.shape(0)),
                                    K.stride(0)};
  const tikhon::CoordinatePenalty penalty{l1.data(), l2.data(), lower.data(), upper.data()};
  const Index count = static_cast<Index>(lams.shape(0));
  const double* strengths = lams.data();
  double* start = w.data();
  double* solutions = out.data();
  int* flags = status.data();
  const nb::gil_scoped_release released;
  return tikhon::gram_path(problem, penalty, strengths, count, {relative, absolute}, start,
                           solutions, flags, stop);
}

using Indices = nb::ndarray<const Index, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

double group_descent(SquareMatrix K, Indices members, Indices starts, Vector weight,
                     Vector curvature, Vector l1, Indices chosen, double lam, int sweeps,
                     MutableMatrix W, MutableMatrix G, const tikhon::Stop& stop) {
  const tikhon::GroupBlocks blocks{members.data(), starts.data(), weight.data(), curvature.data(),
                                   l1.data()};
  const double* moments = K.data();
  const Index size = static_cast<Index>(W.shape(1));
  const Index targets = static_cast<Index>(W.shape(0));
  const Index stride = K.stride(0);
  const Index* groups = chosen.data();
  const Index count = static_cast<Index>(chosen.shape(0));
  double* coefs = W.data();
  double* correlations = G.data();
  const nb::gil_scoped_release released;
  return tikhon::group_descent(moments, size, stride, targets, blocks, groups, count, lam, sweeps,
                               coefs, correlations, stop);
}

template <class T>
using Run = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using ColumnMajor = nb::ndarray<const T, nb::numpy, nb::ndim<2>, nb::device::cpu>;

template <class T>
double group_columns(ColumnMajor<T> A, Indices starts, Vector weight, Vector square, Indices chosen,
                     double lam, int sweeps, double enough, MutableMatrix W, MutableMatrix R,
                     const tikhon::Stop& stop) {
  const tikhon::TurnedGroups<T> groups{A.data(),      static_cast<Index>(A.shape(0)),
                                       A.stride(1),   starts.data(),
                                       weight.data(), square.data()};
  const Index columns = static_cast<Index>(W.shape(1));
  const Index targets = static_cast<Index>(W.shape(0));
  const Index* visited = chosen.data();
  const Index count = static_cast<Index>(chosen.shape(0));
  double* coefs = W.data();
  double* residual = R.data();
  const nb::gil_scoped_release released;
  return tikhon::group_columns(groups, columns, targets, visited, count, lam, {sweeps, enough},
                               coefs, residual, stop);
}

template <class T>
nb::object array_of(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept,
                          [](void* data) noexcept { delete static_cast<std::vector<T>*>(data); });
  return nb::cast(nb::ndarray<T, nb::numpy, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

// The arguments that follow a table, the same for every kind of table.
struct PathArguments {
  tikhon::ColumnProblem problem;
  tikhon::CoordinatePenalty penalty;
  const double* lams;
  Index count;
  double gap;
  double* w;
  int threads;
};

template <class Columns>
nb::tuple run_column_path(const Columns& X, const PathArguments& with, const tikhon::Stop& stop) {
  tikhon::SparsePath path;
  {
    const nb::gil_scoped_release released;
    path = tikhon::column_path(X, with.problem, with.penalty, with.lams, with.count, with.gap,
                               with.w, with.threads, stop);
  }
  const Index solved = path.solved;
  return nb::make_tuple(array_of(std::move(path.starts)), array_of(std::move(path.columns)),
                        array_of(std::move(path.values)), array_of(std::move(path.status)), solved);
}

template <class T, class I>
nb::tuple sparse_column_path(Run<T> values, Run<I> rows, Run<I> starts, Vector p, Vector y,
                             Vector mean, Vector unit, Vector l1, Vector l2, Vector lower,
                             Vector upper, Vector lams, double gap, MutableVector w, int threads,
                             const tikhon::Stop& stop) {
  const tikhon::SparseColumns<T, I> X{values.data(), rows.data(), starts.data(),
                                      static_cast<Index>(p.shape(0)),
                                      static_cast<Index>(mean.shape(0))};
  const PathArguments with{{p.data(), y.data(), mean.data(), unit.data()},
                           {l1.data(), l2.data(), lower.data(), upper.data()},
                           lams.data(),
                           static_cast<Index>(lams.shape(0)),
                           gap,
                           w.data(),
                           threads};
  return run_column_path(X, with, stop);
}

template <class T>
nb::tuple dense_column_path(ColumnMajor<T> values, Vector shift, Vector p, Vector y, Vector mean,
                            Vector unit, Vector l1, Vector l2, Vector lower, Vector upper,
                            Vector lams, double gap, MutableVector w, int threads,
                            const tikhon::Stop& stop) {
  const tikhon::DenseColumns<T> X{values.data(), values.stride(1), shift.data(),
                                  static_cast<Index>(p.shape(0)),
                                  static_cast<Index>(mean.shape(0))};
  const PathArguments with{{p.data(), y.data(), mean.data(), unit.data()},
                           {l1.data(), l2.data(), lower.data(), upper.data()},
                           lams.data(),
                           static_cast<Index>(lams.shape(0)),
                           gap,
                           w.data(),
                           threads};
  return run_column_path(X, with, stop);
}

template <class T, class I>
void define_sparse_column_path(nb::module_& m) {
  m.def("sparse_column_path", &sparse_column_path<T, I>, "values"_a.noconvert(),
        "rows"_a.noconvert(), "starts"_a.noconvert(), "p"_a.noconvert(), "y"_a.noconvert(),
        "mean"_a.noconvert(), "unit"_a.noconvert(), "l1"_a.noconvert(), "l2"_a.noconvert(),
        "lower"_a.noconvert(), "upper"_a.noconvert(), "lams"_a.noconvert(), "gap"_a,
        "w"_a.noconvert(), "threads"_a, "stop"_a);
}

template <class T>
void define_dense_column_path(nb::module_& m) {
  m.def("dense_column_path", &dense_column_path<T>, "values"_a.noconvert(), "shift"_a.noconvert(),
        "p"_a.noconvert(), "y"_a.noconvert(), "mean"_a.noconvert(), "unit"_a.noconvert(),
        "l1"_a.noconvert(), "l2"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(),
        "lams"_a.noconvert(), "gap"_a, "w"_a.noconvert(), "threads"_a, "stop"_a);
}

template <class T>
void define_group_columns(nb::module_& m) {
  m.def("group_columns", &group_columns<T>, "A"_a.noconvert(), "starts"_a.noconvert(),
        "weight"_a.noconvert(), "square"_a.noconvert(), "chosen"_a.noconvert(), "lam"_a, "sweeps"_a,
        "enough"_a, "W"_a.noconvert(), "R"_a.noconvert(), "stop"_a);
}

}  // namespace

void define_descent(nb::module_& m) {
  nb::class_<tikhon::Stop>(m, "Stop")
      .def(nb::init<double>(), "seconds"_a)
      .def("request", &tikhon::Stop::request)
      .def_prop_ro("requested", &tikhon::Stop::requested)
      .def_prop_ro("late", &tikhon::Stop::late);
  m.def("gram_path", &gram_path, "K"_a.noconvert(), "c"_a.noconvert(), "l1"_a.noconvert(),
        "l2"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(), "lams"_a.noconvert(),
        "relative"_a, "absolute"_a, "w"_a.noconvert(), "out"_a.noconvert(), "status"_a.noconvert(),
        "stop"_a);
  m.def("group_descent", &group_descent, "K"_a.noconvert(), "members"_a.noconvert(),
        "starts"_a.noconvert(), "weight"_a.noconvert(), "curvature"_a.noconvert(),
        "l1"_a.noconvert(), "chosen"_a.noconvert(), "lam"_a, "sweeps"_a, "W"_a.noconvert(),
        "G"_a.noconvert(), "stop"_a);
  define_group_columns<float>(m);
  define_group_columns<double>(m);
  define_sparse_column_path<float, std::int32_t>(m);
  define_sparse_column_path<double, std::int32_t>(m);
  define_sparse_column_path<float, std::int64_t>(m);
  define_sparse_column_path<double, std::int64_t>(m);
  define_dense_column_path<float>(m);
  define_dense_column_path<double>(m);
}
