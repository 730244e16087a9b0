#include "descent.hpp"

#include <nanobind/ndarray.h>

#include "tikhon/gram_path.hpp"
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
}
