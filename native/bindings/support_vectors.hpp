// The part of the door behind which support vector machines are solved.
#pragma once

#include <nanobind/nanobind.h>

void define_support_vectors(nanobind::module_& m);
