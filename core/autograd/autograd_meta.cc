// Creation and end of AutogradMeta.

#include "core/autograd/autograd_meta.h"

namespace slotcore::autograd {

void AutogradMeta::release() noexcept {
  // The tensor has expired, so no other thread reads this.
  grad_fn.reset();
  grad_.reset();
  leaf_hooks.clear();
}

intrusive_ptr<TensorImpl> AutogradMeta::exchange_grad(intrusive_ptr<TensorImpl> grad) noexcept {
  std::lock_guard lock(mutex);
  std::swap(grad_, grad);
  return grad;
}

intrusive_ptr<TensorImpl> AutogradMeta::grad() const noexcept {
  std::lock_guard lock(mutex);
  return grad_;
}

bool AutogradMeta::replace_grad(const TensorImpl* former,
                                const intrusive_ptr<TensorImpl>& grad) noexcept {
  intrusive_ptr<TensorImpl> exchanged = grad;  // dropped after the lock
  std::lock_guard lock(mutex);
  if (grad_.get() != former) return false;
  std::swap(grad_, exchanged);
  return true;
}

AutogradMeta* meta_of(const TensorImpl& tensor) noexcept {
  return static_cast<AutogradMeta*>(tensor.autograd_meta());
}

AutogradMeta& materialize_meta(TensorImpl& tensor) {
  if (tensor.autograd_meta() == nullptr) tensor.set_autograd_meta(std::make_unique<AutogradMeta>());
  return *meta_of(tensor);
}

}  // namespace slotcore::autograd
