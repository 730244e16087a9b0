#include <utility>

#include "tikhon/kernel_table.hpp"

namespace tikhon {
namespace {

template <class T, class S>
class StoredPanel final : public Panel<T> {
 public:
  StoredPanel(const S* K, Index stride, double plus, const Index* chosen, Index count)
      : K_(K), stride_(stride), plus_(plus), chosen_(chosen, chosen + count) {}

  void row(Index i, Index begin, Index end, T* out) const override {
    const S* values = K_ + i * stride_;
    for (Index c = begin; c < end; ++c) {
      out[c - begin] = T(double(values[chosen_[c]]) + plus_);
    }
  }

 private:
  const S* K_;
  Index stride_;
  double plus_;
  std::vector<Index> chosen_;
};

template <class S>
class StoredKernel final : public KernelTable {
 public:
  StoredKernel(const S* K, Index n, Index stride, double plus)
      : K_(K), n_(n), stride_(stride), plus_(plus) {}

  Index size() const override { return n_; }
  double diagonal(Index i) const override { return double(K_[i * stride_ + i]) + plus_; }
  bool stored() const override { return true; }

  std::unique_ptr<Panel<float>> panel32(const Index* chosen, Index count) const override {
    return std::make_unique<StoredPanel<float, S>>(K_, stride_, plus_, chosen, count);
  }

  std::unique_ptr<Panel<double>> panel64(const Index* chosen, Index count) const override {
    return std::make_unique<StoredPanel<double, S>>(K_, stride_, plus_, chosen, count);
  }

 private:
  const S* K_;
  Index n_;
  Index stride_;
  double plus_;
};

template <class T>
class CalledPanel final : public Panel<T> {
 public:
  CalledPanel(const RowFunction& function, Index n, double plus, const Index* chosen, Index count)
      : function_(function), n_(n), plus_(plus), chosen_(chosen, chosen + count) {}

  void row(Index i, Index begin, Index end, T* out) const override {
    std::vector<double> whole(n_);
    function_(i, whole.data());
    for (Index c = begin; c < end; ++c) {
      out[c - begin] = T(whole[chosen_[c]] + plus_);
    }
  }

 private:
  const RowFunction& function_;
  Index n_;
  double plus_;
  std::vector<Index> chosen_;
};

class CalledKernel final : public KernelTable {
 public:
  CalledKernel(RowFunction function, std::vector<double> diagonal, double plus)
      : function_(std::move(function)), diagonal_(std::move(diagonal)), plus_(plus) {}

  Index size() const override { return Index(diagonal_.size()); }
  double diagonal(Index i) const override { return diagonal_[i] + plus_; }

  std::unique_ptr<Panel<float>> panel32(const Index* chosen, Index count) const override {
    return std::make_unique<CalledPanel<float>>(function_, size(), plus_, chosen, count);
  }

  std::unique_ptr<Panel<double>> panel64(const Index* chosen, Index count) const override {
    return std::make_unique<CalledPanel<double>>(function_, size(), plus_, chosen, count);
  }

 private:
  RowFunction function_;
  std::vector<double> diagonal_;
  double plus_;
};

}  // namespace

template <class T>
std::unique_ptr<KernelTable> stored_kernel(const T* K, Index n, Index stride, double plus) {
  return std::make_unique<StoredKernel<T>>(K, n, stride, plus);
}

template std::unique_ptr<KernelTable> stored_kernel(const float*, Index, Index, double);
template std::unique_ptr<KernelTable> stored_kernel(const double*, Index, Index, double);

std::unique_ptr<KernelTable> called_kernel(RowFunction function, std::vector<double> diagonal,
                                           double plus) {
  return std::make_unique<CalledKernel>(std::move(function), std::move(diagonal), plus);
}

}  // namespace tikhon
