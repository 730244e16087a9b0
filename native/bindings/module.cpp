// The door between Python and the kernels: only types are translated here. Shapes, contiguity and
// the number of threads are checked by tikhon/_kernels.py, the only caller.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "descent.hpp"
#include "support_vectors.hpp"
#include "textbook.hpp"
#include "tikhon/compensated.hpp"
#include "tikhon/gather.hpp"
#include "tikhon/hash_rows.hpp"
#include "tikhon/multiversion.hpp"
#include "tikhon/scan.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using tikhon::Index;

template <class T>
using MatrixIn = nb::ndarray<const T, nb::numpy, nb::ndim<2>, nb::device::cpu>;
template <class T>
using VectorIn = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using VectorOut = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MatrixOut = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using OptionalIn = std::optional<VectorIn<T>>;

template <class T>
tikhon::Matrix<T> matrix(const MatrixIn<T>& array) {
  return {array.data(), static_cast<Index>(array.shape(0)), static_cast<Index>(array.shape(1)),
          array.stride(0), array.stride(1)};
}

template <class T>
const T* pointer(const OptionalIn<T>& array) {
  return array ? array->data() : nullptr;
}

template <class T>
void scan(MatrixIn<T> X, VectorOut<double> sums, VectorOut<double> minimum,
          VectorOut<double> maximum, VectorOut<Index> nonfinite, int threads) {
  const tikhon::ColumnStatistics out{sums.data(), minimum.data(), maximum.data(), nonfinite.data()};
  const tikhon::Matrix<T> view = matrix(X);
  const nb::gil_scoped_release released;
  tikhon::scan(view, out, threads);
}

template <class T>
void gather(MatrixIn<T> X, OptionalIn<Index> index, Index start, OptionalIn<double> shift,
            OptionalIn<double> column_scale, OptionalIn<double> scale, MatrixOut out, int threads) {
  const tikhon::RowChoice rows{pointer(index), start, static_cast<Index>(out.shape(0))};
  const tikhon::RowTransform transform{pointer(shift), pointer(column_scale), pointer(scale)};
  const tikhon::Matrix<T> view = matrix(X);
  double* target = out.data();
  const nb::gil_scoped_release released;
  tikhon::gather(view, rows, transform, target, threads);
}

template <class T>
void residual_dd(MatrixIn<T> X, OptionalIn<double> shift, VectorIn<double> y, VectorIn<double> w_hi,
                 VectorIn<double> w_lo, double b_hi, double b_lo, VectorOut<double> r_hi,
                 VectorOut<double> r_lo, int threads) {
  const tikhon::Matrix<T> view = matrix(X);
  const double* c = pointer(shift);
  const double* target = y.data();
  const tikhon::ConstPairVector w{w_hi.data(), w_lo.data()};
  const tikhon::PairVector r{r_hi.data(), r_lo.data()};
  const nb::gil_scoped_release released;
  tikhon::residual_dd(view, c, target, w, {b_hi, b_lo}, r, threads);
}

template <class T>
nb::tuple correlate_dd(MatrixIn<T> X, OptionalIn<double> shift, OptionalIn<double> s,
                       VectorIn<double> r_hi, VectorIn<double> r_lo, VectorOut<double> g_hi,
                       VectorOut<double> g_lo, int threads) {
  const tikhon::Matrix<T> view = matrix(X);
  const double* c = pointer(shift);
  const double* weights = pointer(s);
  const tikhon::ConstPairVector r{r_hi.data(), r_lo.data()};
  const tikhon::PairVector g{g_hi.data(), g_lo.data()};
  tikhon::Pair total{};
  {
    const nb::gil_scoped_release released;
    total = tikhon::correlate_dd(view, c, weights, r, g, threads);
  }
  return nb::make_tuple(total.hi, total.lo);
}

template <class T>
void hash_rows(MatrixIn<T> X, OptionalIn<std::int32_t> exponent, VectorOut<std::uint64_t> hashes,
               int threads) {
  const tikhon::Matrix<T> view = matrix(X);
  const std::int32_t* exponents = pointer(exponent);
  std::uint64_t* target = hashes.data();
  const nb::gil_scoped_release released;
  tikhon::hash_rows(view, exponents, target, threads);
}

template <class T, class I>
void hash_compressed_rows(VectorIn<T> values, VectorIn<I> indices, VectorIn<I> starts,
                          Index columns, OptionalIn<std::int32_t> exponent,
                          VectorOut<std::uint64_t> hashes, int threads) {
  const tikhon::CompressedRows<T, I> X{values.data(), indices.data(),
                                       starts.data(), static_cast<Index>(hashes.shape(0)),
                                       columns,       static_cast<Index>(values.shape(0))};
  const std::int32_t* exponents = pointer(exponent);
  std::uint64_t* target = hashes.data();
  const nb::gil_scoped_release released;
  tikhon::hash_rows(X, exponents, target, threads);
}

std::string isa() {
  switch (tikhon::current_isa()) {
    case tikhon::Isa::avx512:
      return "avx512";
    case tikhon::Isa::avx2:
      return "avx2";
    case tikhon::Isa::baseline:
      break;
  }
  return "baseline";
}

void limit_isa(const std::string& highest) {
  if (highest == "avx512") {
    tikhon::limit_isa(tikhon::Isa::avx512);
  } else if (highest == "avx2") {
    tikhon::limit_isa(tikhon::Isa::avx2);
  } else if (highest == "baseline") {
    tikhon::limit_isa(tikhon::Isa::baseline);
  } else {
    throw std::invalid_argument("`highest` must be 'baseline', 'avx2' or 'avx512', got '" +
                                highest + "'");
  }
}

template <class T>
void define_dense(nb::module_& m) {
  m.def("scan", &scan<T>, "X"_a.noconvert(), "sums"_a.noconvert(), "minimum"_a.noconvert(),
        "maximum"_a.noconvert(), "nonfinite"_a.noconvert(), "threads"_a);
  m.def("gather", &gather<T>, "X"_a.noconvert(), "index"_a.noconvert().none(), "start"_a,
        "shift"_a.noconvert().none(), "column_scale"_a.noconvert().none(),
        "scale"_a.noconvert().none(), "out"_a.noconvert(), "threads"_a);
  m.def("residual_dd", &residual_dd<T>, "X"_a.noconvert(), "shift"_a.noconvert().none(),
        "y"_a.noconvert(), "w_hi"_a.noconvert(), "w_lo"_a.noconvert(), "b_hi"_a, "b_lo"_a,
        "r_hi"_a.noconvert(), "r_lo"_a.noconvert(), "threads"_a);
  m.def("correlate_dd", &correlate_dd<T>, "X"_a.noconvert(), "shift"_a.noconvert().none(),
        "s"_a.noconvert().none(), "r_hi"_a.noconvert(), "r_lo"_a.noconvert(), "g_hi"_a.noconvert(),
        "g_lo"_a.noconvert(), "threads"_a);
  m.def("hash_rows", &hash_rows<T>, "X"_a.noconvert(), "exponent"_a.noconvert().none(),
        "hashes"_a.noconvert(), "threads"_a);
}

template <class T, class I>
void define_sparse(nb::module_& m) {
  m.def("hash_compressed_rows", &hash_compressed_rows<T, I>, "values"_a.noconvert(),
        "indices"_a.noconvert(), "starts"_a.noconvert(), "columns"_a,
        "exponent"_a.noconvert().none(), "hashes"_a.noconvert(), "threads"_a);
}

}  // namespace

NB_MODULE(_native, m) {
  define_dense<float>(m);
  define_dense<double>(m);
  define_sparse<float, std::int32_t>(m);
  define_sparse<double, std::int32_t>(m);
  define_sparse<float, std::int64_t>(m);
  define_sparse<double, std::int64_t>(m);
  define_descent(m);
  define_support_vectors(m);
  define_textbook(m);
  m.def("isa", &isa);
  m.def("limit_isa", &limit_isa, "highest"_a);
}
