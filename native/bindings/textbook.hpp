// Kernels of the textbook solvers, added to the module.
#pragma once

#include <nanobind/nanobind.h>

void define_textbook(nanobind::module_& m);
