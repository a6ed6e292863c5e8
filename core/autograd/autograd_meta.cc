// Creation and end of AutogradMeta.

#include "core/autograd/autograd_meta.h"

namespace slotcore::autograd {

void AutogradMeta::release() noexcept {
  // The tensor has expired or is garbage, so no other thread reads this.
  grad_fn.reset();
  gradient.unguarded().reset();
  leaf_hooks.clear();
}

AutogradMeta* meta_of(const TensorImpl& tensor) noexcept {
  return static_cast<AutogradMeta*>(tensor.autograd_meta());
}

AutogradMeta& materialize_meta(TensorImpl& tensor) {
  if (tensor.autograd_meta() == nullptr) tensor.set_autograd_meta(std::make_unique<AutogradMeta>());
  return *meta_of(tensor);
}

}  // namespace slotcore::autograd
