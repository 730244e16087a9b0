#include "textbook.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>

#include "tikhon/cyclic_sweep.hpp"
#include "tikhon/stochastic.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using tikhon::Index;

template <class T>
using Run = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Vector = Run<double>;
using OptionalVector = std::optional<Vector>;
using MutableVector = nb::ndarray<double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OptionalMutable = std::optional<MutableVector>;
template <class T>
using ColumnMajor = nb::ndarray<const T, nb::numpy, nb::ndim<2>, nb::device::cpu>;
using Block = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

const double* pointer(const OptionalVector& array) {
  return array ? array->data() : nullptr;
}

double* pointer(const OptionalMutable& array) {
  return array ? array->data() : nullptr;
}

// What follows a table in a sweep, the same for every kind of table.
struct SweepArguments {
  tikhon::SweepColumns columns;
  tikhon::CoordinatePenalty penalty;
  double lam;
  Index first;
  Index last;
  double* w;
  tikhon::WeightedResidual residual;
};

template <class Columns>
double sweep(const Columns& X, SweepArguments with) {
  const nb::gil_scoped_release released;
  tikhon::cyclic_sweep(X, with.columns, with.penalty, with.lam, with.first, with.last, with.w,
                       &with.residual);
  return with.residual.k;
}

template <class T, class I>
double sparse_cyclic_sweep(Run<T> values, Run<I> rows, Run<I> starts, Vector p, Vector mean,
                           Vector curvature, Vector l1, Vector l2, Vector lower, Vector upper,
                           double lam, Index first, Index last, MutableVector w, MutableVector q,
                           double k) {
  const tikhon::SparseColumns<T, I> X{values.data(), rows.data(), starts.data(),
                                      static_cast<Index>(p.shape(0)),
                                      static_cast<Index>(mean.shape(0))};
  return sweep(X, {{p.data(), mean.data(), curvature.data()},
                   {l1.data(), l2.data(), lower.data(), upper.data()},
                   lam,
                   first,
                   last,
                   w.data(),
                   {q.data(), k}});
}

template <class T>
double dense_cyclic_sweep(ColumnMajor<T> values, Vector shift, Vector p, Vector mean,
                          Vector curvature, Vector l1, Vector l2, Vector lower, Vector upper,
                          double lam, Index first, Index last, MutableVector w, MutableVector q,
                          double k) {
  const tikhon::DenseColumns<T> X{values.data(), values.stride(1), shift.data(),
                                  static_cast<Index>(p.shape(0)),
                                  static_cast<Index>(mean.shape(0))};
  return sweep(X, {{p.data(), mean.data(), curvature.data()},
                   {l1.data(), l2.data(), lower.data(), upper.data()},
                   lam,
                   first,
                   last,
                   w.data(),
                   {q.data(), k}});
}

template <class Rows>
void pass(const Rows& X, const tikhon::Batches& batches, const std::string& loss, double parameter,
          const tikhon::Iterates& at) {
  const nb::gil_scoped_release released;
  tikhon::stochastic_pass(X, batches, loss, parameter, at);
}

tikhon::Batches batches_of(const Vector& y, const OptionalVector& weight, Index size,
                           const Vector& shrink, const Vector& gain,
                           const OptionalVector& threshold, double radius, bool intercept) {
  return {y.data(),
          pointer(weight),
          static_cast<Index>(y.shape(0)),
          size,
          shrink.data(),
          gain.data(),
          pointer(threshold),
          radius,
          intercept};
}

void dense_stochastic_pass(Block rows, Vector y, OptionalVector weight, Index size, Vector shrink,
                           Vector gain, OptionalVector threshold, double radius, bool intercept,
                           const std::string& loss, double parameter, MutableVector w,
                           OptionalMutable total, MutableVector offset, OptionalMutable slopes) {
  const tikhon::BlockOfRows X{rows.data(), static_cast<Index>(rows.shape(1))};
  pass(X, batches_of(y, weight, size, shrink, gain, threshold, radius, intercept), loss, parameter,
       {w.data(), pointer(total), offset.data(), pointer(slopes)});
}

template <class T, class I>
void sparse_stochastic_pass(Run<T> values, Run<I> columns_of, Run<I> starts, Run<Index> index,
                            Vector y, OptionalVector weight, Index size, Vector shrink, Vector gain,
                            OptionalVector threshold, double radius, bool intercept,
                            const std::string& loss, double parameter, MutableVector w,
                            OptionalMutable total, MutableVector offset, OptionalMutable slopes) {
  const tikhon::ChosenRows<T, I> X{values.data(), columns_of.data(), starts.data(), index.data(),
                                   static_cast<Index>(w.shape(0))};
  pass(X, batches_of(y, weight, size, shrink, gain, threshold, radius, intercept), loss, parameter,
       {w.data(), pointer(total), offset.data(), pointer(slopes)});
}

template <class T>
void define_dense_sweep(nb::module_& m) {
  m.def("dense_cyclic_sweep", &dense_cyclic_sweep<T>, "values"_a.noconvert(), "shift"_a.noconvert(),
        "p"_a.noconvert(), "mean"_a.noconvert(), "curvature"_a.noconvert(), "l1"_a.noconvert(),
        "l2"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(), "lam"_a, "first"_a,
        "last"_a, "w"_a.noconvert(), "q"_a.noconvert(), "k"_a);
}

template <class T, class I>
void define_sparse(nb::module_& m) {
  m.def("sparse_cyclic_sweep", &sparse_cyclic_sweep<T, I>, "values"_a.noconvert(),
        "rows"_a.noconvert(), "starts"_a.noconvert(), "p"_a.noconvert(), "mean"_a.noconvert(),
        "curvature"_a.noconvert(), "l1"_a.noconvert(), "l2"_a.noconvert(), "lower"_a.noconvert(),
        "upper"_a.noconvert(), "lam"_a, "first"_a, "last"_a, "w"_a.noconvert(), "q"_a.noconvert(),
        "k"_a);
  m.def("sparse_stochastic_pass", &sparse_stochastic_pass<T, I>, "values"_a.noconvert(),
        "columns_of"_a.noconvert(), "starts"_a.noconvert(), "index"_a.noconvert(),
        "y"_a.noconvert(), "weight"_a.noconvert().none(), "size"_a, "shrink"_a.noconvert(),
        "gain"_a.noconvert(), "threshold"_a.noconvert().none(), "radius"_a, "intercept"_a, "loss"_a,
        "parameter"_a, "w"_a.noconvert(), "total"_a.noconvert().none(), "offset"_a.noconvert(),
        "slopes"_a.noconvert().none());
}

}  // namespace

void define_textbook(nb::module_& m) {
  define_dense_sweep<float>(m);
  define_dense_sweep<double>(m);
  define_sparse<float, std::int32_t>(m);
  define_sparse<double, std::int32_t>(m);
  define_sparse<float, std::int64_t>(m);
  define_sparse<double, std::int64_t>(m);
  m.def("dense_stochastic_pass", &dense_stochastic_pass, "rows"_a.noconvert(), "y"_a.noconvert(),
        "weight"_a.noconvert().none(), "size"_a, "shrink"_a.noconvert(), "gain"_a.noconvert(),
        "threshold"_a.noconvert().none(), "radius"_a, "intercept"_a, "loss"_a, "parameter"_a,
        "w"_a.noconvert(), "total"_a.noconvert().none(), "offset"_a.noconvert(),
        "slopes"_a.noconvert().none());
}
