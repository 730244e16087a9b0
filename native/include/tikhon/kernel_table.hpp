// Rows of a kernel matrix, computed when they are asked for.
//
//     linear      x . z                            polynomial  (gamma x . z + coef0)^degree
//     rbf         exp(-gamma ||x - z||^2)          laplacian   exp(-gamma ||x - z||_1)
//
// plus a constant, which is how an offset is penalised. A table holds the rows x_i; a *panel* is a
// choice of them packed for fast evaluation of k(x_i, .) against all of the choice. Distances of
// dense rows are sums of differences, not expanded squares: an entry is then good to the last
// places of its type however large gamma or the norms are.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tikhon/matrix.hpp"

namespace tikhon {

enum class KernelKind { linear, polynomial, rbf, laplacian };

struct KernelFunction {
  KernelKind kind;
  double gamma;
  double coef0;
  int degree;
  double plus;
};

// k(x_i, .) for the chosen rows, in their order.
template <class T>
class Panel {
 public:
  // What `begin` of a range must be a multiple of.
  static constexpr Index grain = 64;

  virtual ~Panel() = default;

  // out[0 .. end - begin) = k(x_i, chosen[begin .. end)); safe to call from several threads.
  virtual void row(Index i, Index begin, Index end, T* out) const = 0;
};

class KernelTable {
 public:
  virtual ~KernelTable() = default;

  virtual Index size() const = 0;
  virtual double diagonal(Index i) const = 0;

  // Whether a row costs no more than reading it.
  virtual bool stored() const { return false; }

  virtual std::unique_ptr<Panel<float>> panel32(const Index* chosen, Index count) const = 0;
  virtual std::unique_ptr<Panel<double>> panel64(const Index* chosen, Index count) const = 0;
};

template <class T>
std::unique_ptr<Panel<T>> make_panel(const KernelTable& table, const Index* chosen, Index count);

// Rows of n x d numbers, C order; shared with the caller, who keeps them alive.
std::unique_ptr<KernelTable> dense_kernel(const double* X, Index n, Index d, KernelFunction k);

// Compressed rows, columns ascending in each.
template <class I>
std::unique_ptr<KernelTable> sparse_kernel(const double* values, const I* columns, const I* starts,
                                           Index n, Index d, KernelFunction k);

// A matrix that somebody computed: row i at `K + i stride`.
template <class T>
std::unique_ptr<KernelTable> stored_kernel(const T* K, Index n, Index stride, double plus);

// Whole rows from a function of the row's number, which may be slow and must be safe to call from
// several threads.
using RowFunction = std::function<void(Index i, double* row)>;
std::unique_ptr<KernelTable> called_kernel(RowFunction function, std::vector<double> diagonal,
                                           double plus);

}  // namespace tikhon
