// The nodes of relu() and of its derivative.

#include "core/autograd/functions/relu.h"

#include <stdexcept>

#include "core/autograd/saved/saving_node.h"
#include "core/c10/tensor/tensor_derivatives.h"

namespace slotcore::autograd {
namespace {

class WherePositiveBackward final : public SavingNode<1> {
 public:
  explicit WherePositiveBackward(TensorImpl& condition) {
    set_saved(0, SavedVariable(condition, /*is_output=*/false));
  }
  std::string name() const override { return "ThresholdBackwardBackward0"; }
  Gradients apply(Gradients gradients) override;
};

TensorPtr where_positive(TensorImpl& gradient, TensorImpl& result) {
  // An unpack hook may have given any tensor (A2e).
  if (result.place() != gradient.place() || result.sizes() != gradient.sizes()) {
    throw std::runtime_error("what relu() has saved, unpacked by a hook, is on " +
                             result.place().text() + " and of size " + text(result.sizes()) +
                             "; the gradient is on " + gradient.place().text() + " and of size " +
                             text(gradient.sizes()));
  }
  return recorded(derivatives::where_positive(gradient, result), {&gradient},
                  [&] { return make_intrusive<WherePositiveBackward>(*result.detach()); });
}

Gradients WherePositiveBackward::apply(Gradients gradients) {
  TensorPtr condition = unpack(0);
  if (!gradients.at(0)) return {nullptr};
  return {where_positive(*gradients[0], *condition)};
}

class ReluBackward final : public SavingNode<1> {
 public:
  // The result is saved later, because it needs its history first; nobody else has the node yet.
  void save(TensorImpl& result, bool is_in_place_on_view) {
    set_saved(0, SavedVariable(result, /*is_output=*/true, is_in_place_on_view));
  }
  std::string name() const override { return "ReluBackward0"; }
  Gradients apply(Gradients gradients) override {
    TensorPtr result = unpack(0);
    if (!gradients.at(0)) return {nullptr};
    return {where_positive(*gradients[0], *result)};
  }
};

}  // namespace

TensorPtr relu(TensorImpl& tensor) {
  TensorPtr result = derivatives::relu(tensor);
  if (!is_recorded({&tensor}) || !is_differentiable(result->type())) return result;
  auto node = make_intrusive<ReluBackward>();
  node->set_next_edges(edges_to({&tensor}));
  set_history(*result, node);
  node->save(*result, /*is_in_place_on_view=*/false);
  return result;
}

void relu_in_place(TensorImpl& tensor) {
  check_in_place(tensor);
  bool is_wanted = is_recorded({&tensor}) && is_differentiable(tensor.type());
  intrusive_ptr<ReluBackward> node;
  if (is_wanted) {
    node = make_intrusive<ReluBackward>();
    node->set_next_edges(edges_to({&tensor}));
  }
  derivatives::relu_in_place(tensor);
  if (!is_wanted) return;
  rebase_history(tensor, node);
  node->save(tensor, static_cast<bool>(tensor.base()));
}

}  // namespace slotcore::autograd
