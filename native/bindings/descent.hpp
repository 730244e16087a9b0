// The part of the door behind which strengths are solved one after another.
#pragma once

#include <nanobind/nanobind.h>

void define_descent(nanobind::module_& m);
