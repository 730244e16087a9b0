// Loops over runs of doubles, compiled for each instruction set and the same to the bit under all.
#pragma once

#include "tikhon/matrix.hpp"

namespace tikhon {

// sum_i x_i y_i, over sixteen lanes that are added up in order.
double dot(const double* x, const double* y, Index n);

// y += a x
void axpy(double a, const double* x, double* y, Index n);

// y += a_0 x_0 + a_1 x_1 + a_2 x_2 + a_3 x_3, from left to right: one pass over y for four over x.
void axpy4(const double* a, const double* const* x, double* y, Index n);

// (x, y) <- (c x + s y, c y - s x): a plane rotation of two columns.
void rotate(double c, double s, double* x, double* y, Index n);

}  // namespace tikhon
