// The hook that keeps a gradient does not own the tensor: the tensor owns the node, and so the
// hook.

#include "core/autograd/retains_grad.h"

#include <utility>

#include "core/autograd/functions/arithmetic.h"

namespace slotcore::autograd {
namespace {

class RetainsGrad final : public FunctionPreHook {
 public:
  explicit RetainsGrad(TensorImpl& tensor) : tensor_(TensorPtr::retain(&tensor)) {}

  Gradients operator()(Gradients gradients) override {
    TensorPtr tensor = tensor_.lock();
    if (!tensor || !gradients[0]) return gradients;
    TensorPtr former = tensor->grad();
    // Recorded in a backward with create_graph, as the sums of a leaf are.
    TensorPtr sum = former ? add(Operand(*former), Operand(*gradients[0])) : clone(*gradients[0]);
    TensorPtr replaced = exchange_grad(*tensor, std::move(sum));
    return gradients;
  }

 private:
  weak_intrusive_ptr<TensorImpl> tensor_;
};

}  // namespace

void add_hook(TensorImpl& tensor, std::shared_ptr<FunctionPreHook> hook) {
  if (auto node = grad_fn(tensor))
    return node->add_hook_of_tensor(meta_of(tensor)->output_nr, std::move(hook));
  AutogradMeta& meta = materialize_meta(tensor);
  std::lock_guard lock(meta.mutex);
  meta.leaf_hooks.push_back(std::move(hook));
}

std::vector<std::shared_ptr<FunctionPreHook>> hooks_of(TensorImpl& tensor) {
  if (auto node = grad_fn(tensor)) {
    std::vector<std::shared_ptr<FunctionPreHook>> hooks;
    uint32_t output_nr = meta_of(tensor)->output_nr;
    for (auto& [input_nr, hook] : node->hooks().of_tensors) {
      if (input_nr == output_nr) hooks.push_back(hook);
    }
    return hooks;
  }
  AutogradMeta* meta = meta_of(tensor);
  if (meta == nullptr) return {};
  std::lock_guard lock(meta->mutex);
  return meta->leaf_hooks;
}

std::vector<std::shared_ptr<FunctionPreHook>> take_leaf_hooks(TensorImpl& tensor) {
  AutogradMeta* meta = meta_of(tensor);
  if (meta == nullptr) return {};
  std::lock_guard lock(meta->mutex);
  return std::exchange(meta->leaf_hooks, {});
}

void retain_grad(TensorImpl& tensor) {
  auto node = grad_fn(tensor);
  if (!node || retains_grad(tensor)) return;
  node->set_retaining_hook(meta_of(tensor)->output_nr, std::make_shared<RetainsGrad>(tensor));
}

bool retains_grad(const TensorImpl& tensor) {
  // The wish moves along when a stale view gets its new node.
  auto node = former_grad_fn(tensor);
  if (!node) return false;
  uint32_t output_nr = meta_of(tensor)->output_nr;
  for (auto& [input_nr, hook] : node->hooks().retaining) {
    if (input_nr == output_nr) return true;
  }
  return false;
}

std::shared_ptr<FunctionPreHook> take_retaining_hook(TensorImpl& tensor) {
  auto node = grad_fn(tensor);
  return node ? node->take_retaining_hook(meta_of(tensor)->output_nr) : nullptr;
}

}  // namespace slotcore::autograd
