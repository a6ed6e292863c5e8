// Hooks for saved tensors: a pair of functions of the user. One packs a tensor that a node saves,
// and the other unpacks it each time that it is needed (A2e).
#pragma once

#include <memory>

#include "core/autograd/node.h"

namespace slotcore::autograd {

// What a pack hook has made of one tensor. Several threads may unpack it at once.
class PackedTensor {
 public:
  virtual ~PackedTensor() = default;
  // Calls the unpack hook. It may run any code, so the caller owns this object and holds no lock.
  virtual TensorPtr unpack() const = 0;
  // Visits each strong reference, for the collector.
  virtual void visit_owned(OwnedVisitor& visitor) const = 0;
};

class SavedTensorHooks {
 public:
  virtual ~SavedTensorHooks() = default;
  // Calls the pack hook, once for a tensor that is saved. Null if the pair does not apply where
  // this thread is now. The caller owns this object: the hook may remove it from the thread.
  virtual std::shared_ptr<const PackedTensor> pack(const TensorPtr& tensor) const = 0;

  // Of the pairs that this thread has entered, the last one; or null.
  static std::shared_ptr<const SavedTensorHooks> innermost();
  static void enter(std::shared_ptr<const SavedTensorHooks> hooks);
  // Removes the last one. Returns it, for the caller to drop; null if there was none.
  [[nodiscard]] static std::shared_ptr<const SavedTensorHooks> leave() noexcept;
};

}  // namespace slotcore::autograd
