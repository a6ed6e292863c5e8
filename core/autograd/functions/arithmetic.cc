// Nodes of operations that compute new tensors. The engine sums a gradient over repeated dimensions
// and converts its type (validate.h), so the nodes need not.

#include "core/autograd/functions/arithmetic.h"

#include <array>
#include <utility>

#include "core/autograd/functions/view.h"
#include "core/autograd/saved/saving_node.h"
#include "core/c10/tensor/tensor_derivatives.h"
#include "core/c10/tensor/tensor_views.h"

namespace slotcore::autograd {
namespace {

TensorPtr conjugated(TensorPtr tensor) {
  if (!is_complex(tensor->type())) return tensor;
  return record_view(*tensor, "ConjBackward0", &views::conj);
}

class AddBackward final : public Node {
 public:
  std::string name() const override { return "AddBackward0"; }
  Gradients apply(Gradients gradients) override {
    return {needs(0) ? gradients.at(0) : nullptr, needs(1) ? gradients.at(0) : nullptr};
  }
};

class MultiplyBackward final : public SavingNode<2> {
 public:
  MultiplyBackward(TensorImpl* a, TensorImpl* b, bool is_b_overwritten) {
    if (a != nullptr) set_saved(0, SavedVariable(*a, /*is_output=*/false));
    if (b == nullptr) return;
    set_saved(1, is_b_overwritten ? SavedVariable::of_overwritten(*b)
                                  : SavedVariable(*b, /*is_output=*/false));
  }

  std::string name() const override { return "MulBackward0"; }
  Gradients apply(Gradients gradients) override {
    Gradients results(2);
    std::array<TensorPtr, 2> others;
    for (size_t i : {0, 1}) {
      if (needs(i)) others[i] = unpack(1 - i);
    }
    if (!gradients.at(0)) return results;
    for (size_t i : {0, 1}) {
      if (!others[i]) continue;
      // Only a Python number is a float64 beside complex64, and it asks for no type of its own.
      bool is_number = is_complex(gradients[0]->type()) && others[i]->type() == ScalarType::float64;
      if (is_number) others[i] = to_type(*others[i], gradients[0]->type());
      TensorPtr other = conjugated(std::move(others[i]));
      results[i] = multiply(Operand(*gradients[0]), Operand(*other));
    }
    return results;
  }
};

class SumBackward final : public Node {
 public:
  explicit SumBackward(const Dims& sizes) : sizes_(sizes) {}
  std::string name() const override { return "SumBackward0"; }
  Gradients apply(Gradients gradients) override {
    return {gradients.at(0) ? expand(*gradients[0], sizes_) : nullptr};
  }

 private:
  Dims sizes_;
};

// The gradient passes unchanged.
class PassingNode final : public Node {
 public:
  explicit PassingNode(const char* name) : name_(name) {}
  std::string name() const override { return name_; }
  Gradients apply(Gradients gradients) override { return {gradients.at(0)}; }

 private:
  const char* name_;
};

}  // namespace

TensorPtr add(const Operand& a, const Operand& b) {
  return recorded(arithmetic::compute(Op::kAdd, a, b), {a.tensor.get(), b.tensor.get()},
                  &make_add_node);
}

TensorPtr multiply(const Operand& a, const Operand& b) {
  Operand first = a.beside(*b.tensor), second = b.beside(*a.tensor);
  TensorImpl *left = first.tensor.get(), *right = second.tensor.get();
  return recorded(arithmetic::compute(Op::kMultiply, first, second), {left, right}, [&] {
    return make_multiply_node(takes_gradient(*right) ? left : nullptr,
                              takes_gradient(*left) ? right : nullptr);
  });
}

TensorPtr sum(TensorImpl& tensor) {
  return recorded(arithmetic::sum(tensor), {&tensor},
                  [&] { return make_intrusive<SumBackward>(tensor.sizes()); });
}

TensorPtr clone(TensorImpl& tensor) {
  return recorded(arithmetic::clone(tensor), {&tensor},
                  [] { return make_intrusive<PassingNode>("CloneBackward0"); });
}

TensorPtr clone_with_strides(TensorImpl& tensor, const Dims& strides) {
  auto result = make_intrusive<TensorImpl>(Dims{0}, tensor.type(), tensor.place());
  auto same = result->exchange_storage(result->storage(), {tensor.sizes(), strides, 0});
  arithmetic::copy(*result, Operand(tensor));
  return recorded(std::move(result), {&tensor},
                  [] { return make_intrusive<PassingNode>("CloneBackward0"); });
}

TensorPtr to_type(TensorImpl& tensor, ScalarType type) {
  return recorded(derivatives::to_type(tensor, type), {&tensor},
                  [] { return make_intrusive<PassingNode>("ToCopyBackward0"); });
}

intrusive_ptr<Node> make_add_node() { return make_intrusive<AddBackward>(); }

intrusive_ptr<Node> make_multiply_node(TensorImpl* a, TensorImpl* b, bool is_b_overwritten) {
  return make_intrusive<MultiplyBackward>(a, b, is_b_overwritten);
}

}  // namespace slotcore::autograd
