// AutogradMeta: what a tensor stores for autograd. A tensor has none until the user or an operation
// needs it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "core/autograd/node.h"
#include "core/c10/impl/protocol/gradient_field.h"
#include "core/c10/tensor/autograd_meta_interface.h"
#include "core/c10/tensor/tensor_impl.h"

namespace slotcore::autograd {

// How a view was made, if it must not be written while gradients are recorded.
enum class CreationMeta : uint8_t {
  kDefault,           // it may be written
  kNoGradMode,        // while nothing was recorded
  kInCustomFunction,  // in the forward of a Function
  kMultiOutputNode,   // as one of several results of one operation
};

class AutogradMeta final : public AutogradMetaInterface {
 public:
  bool requires_grad() const noexcept override {
    return flag.load(std::memory_order_relaxed);  // orders nothing: the caller has the tensor
  }
  intrusive_ptr<TensorImpl> grad() const noexcept override { return gradient.get(); }
  // The same without a reference, for the collector, which must not change counts.
  TensorImpl* grad_for_collector() const noexcept { return gradient.unguarded().get(); }
  void release() noexcept override;

  // Set once a gradient is required, by the user or by a grad_fn. Several threads may build graphs
  // over one leaf at the same time, hence atomic; relaxed, because it orders nothing.
  std::atomic<bool> flag{false};
  CreationMeta creation_meta = CreationMeta::kDefault;

  // Guards the members below, but never their release: Note [No lock around user code].
  mutable std::mutex mutex;
  intrusive_ptr<Node> grad_fn;
  uint32_t output_nr = 0;  // the input of grad_fn that takes this tensor's gradient
  weak_intrusive_ptr<Node> grad_accumulator{intrusive_ptr<Node>()};
  // Hooks of a leaf; its AccumulateGrad asks for them at each run. Those of other tensors are in
  // the node.
  std::vector<std::shared_ptr<FunctionPreHook>> leaf_hooks;

  // Has a mutex of its own.
  impl::protocol::GradientField<impl::protocol::StdPolicy, intrusive_ptr<TensorImpl>> gradient;
};

// Null for a tensor that autograd has never touched.
AutogradMeta* meta_of(const TensorImpl& tensor) noexcept;
// Makes it if necessary. Not safe while another thread may do the same.
AutogradMeta& materialize_meta(TensorImpl& tensor);

}  // namespace slotcore::autograd
