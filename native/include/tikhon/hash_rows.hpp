// A 64-bit hash of the content of each row, the same for every way to store the matrix.
//
//     h_i = finalise( sum over j with x_ij != 0 of mix(j, bits(double(x_ij) 2^-exponent_j)) )
//
// modulo 2^64. The sum makes it independent of the order in which entries are met, and entries
// that are zero (of either sign) count for nothing; so dense and sparse matrices, C and Fortran
// order, float and double give the same hash when their values are equal. All NaN are equal.
// Multiplying column j by 2^k and adding k to exponent_j leaves the hash as it was, as long as no
// scaled value overflows or is subnormal.
#pragma once

#include "tikhon/matrix.hpp"

namespace tikhon {

// What `exponent` may hold: whatever frexp returns, and more. 2^1024 overflows, so an exponent
// under -1023, of a column of subnormal numbers, counts as -1023.
constexpr std::int32_t lowest_exponent = -1074;
constexpr std::int32_t highest_exponent = 1074;

// A matrix by compressed rows: row i is (indices[k], values[k]) for starts[i] <= k < starts[i + 1].
// Columns come in any order; entries of the same column of a row are added up, as scipy does.
template <class T, class I>
struct CompressedRows {
  const T* values;
  const I* indices;
  const I* starts;
  Index rows;
  Index columns;
  Index entries;  // the length of `values` and of `indices`
};

// `exponent` has one entry for each column, or is null for zeros. Throws std::invalid_argument when
// an exponent is.
template <class T>
void hash_rows(Matrix<T> X, const std::int32_t* exponent, std::uint64_t* hashes, int threads);

// Throws std::invalid_argument also when a column index or a row start is.
template <class T, class I>
void hash_rows(CompressedRows<T, I> X, const std::int32_t* exponent, std::uint64_t* hashes,
               int threads);

extern template void hash_rows(Matrix<float>, const std::int32_t*, std::uint64_t*, int);
extern template void hash_rows(Matrix<double>, const std::int32_t*, std::uint64_t*, int);
extern template void hash_rows(CompressedRows<float, std::int32_t>, const std::int32_t*,
                               std::uint64_t*, int);
extern template void hash_rows(CompressedRows<double, std::int32_t>, const std::int32_t*,
                               std::uint64_t*, int);
extern template void hash_rows(CompressedRows<float, std::int64_t>, const std::int32_t*,
                               std::uint64_t*, int);
extern template void hash_rows(CompressedRows<double, std::int64_t>, const std::int32_t*,
                               std::uint64_t*, int);

}  // namespace tikhon
