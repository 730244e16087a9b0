#include "tikhon/extrapolation.hpp"

#include <cmath>

#include "tikhon/cholesky.hpp"
#include "tikhon/vector_ops.hpp"

namespace tikhon {

void Extrapolation::restart(std::size_t size) {
  size_ = size;
  iterates_.clear();
}

bool Extrapolation::add(const std::vector<Index>& columns, const double* w) {
  iterates_.push_back(current(columns, w));
  return iterates_.size() == kept + 1;
}

std::vector<double> Extrapolation::current(const std::vector<Index>& columns,
                                           const double* w) const {
  std::vector<double> values(columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    values[k] = w[columns[k]];
  }
  return values;
}

bool Extrapolation::propose(std::vector<double>& proposal) const {
  const Index length = static_cast<Index>(size_);
  std::vector<std::vector<double>> differences(kept, std::vector<double>(size_));
  double largest = 0.0;
  for (std::size_t k = 0; k < kept; ++k) {
    for (std::size_t i = 0; i < size_; ++i) {
      differences[k][i] = iterates_[k + 1][i] - iterates_[k][i];
    }
    const double square = dot(differences[k].data(), differences[k].data(), length);
    largest = largest < square ? square : largest;
  }
  if (!(largest > 0.0)) {
    return false;
  }
  // A little of the diagonal on top: differences that are nearly parallel have no say.
  const double ridge = 1e-12 * largest;
  Cholesky factor;
  double row[kept];
  for (std::size_t k = 0; k < kept; ++k) {
    for (std::size_t l = 0; l < k; ++l) {
      row[l] = dot(differences[k].data(), differences[l].data(), length);
    }
    const double own = dot(differences[k].data(), differences[k].data(), length) + ridge;
    factor.append(row, own, ridge);
  }
  double c[kept];
  for (double& value : c) {
    value = 1.0;
  }
  factor.solve(c);
  double sum = 0.0;
  for (const double value : c) {
    sum += value;
  }
  if (!std::isfinite(sum) || sum == 0.0) {
    return false;
  }
  proposal.assign(size_, 0.0);
  for (std::size_t k = 0; k < kept; ++k) {
    axpy(c[k] / sum, iterates_[k + 1].data(), proposal.data(), length);
  }
  return true;
}

}  // namespace tikhon
