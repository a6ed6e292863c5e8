// SavingNode: a node that saves tensors for its backward.
#pragma once

#include <array>

#include "core/autograd/saved_variable.h"

namespace slotcore::autograd {

// Saves up to N tensors.
template <size_t N>
class SavingNode : public Node {
 public:
  void release_variables() noexcept override {
    std::array<TensorPtr, N> released;  // dropped after the lock
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < N; i++) released[i] = saved_[i].release();
  }
  void visit_owned(OwnedVisitor& visitor) const override {
    Node::visit_owned(visitor);
    for (const SavedVariable& one : saved_) {
      if (one.data()) visitor.tensor(one.data().get());
    }
  }

 protected:
  // What was saved as number `i`; null if nothing was.
  TensorPtr unpack(size_t i) {
    SavedVariable saved;
    {
      std::lock_guard lock(mutex_);
      saved = saved_[i];
    }
    return saved.unpack(intrusive_ptr<Node>::retain(this));
  }
  void release_resources() noexcept override {
    Node::release_resources();
    for (SavedVariable& one : saved_) one.release().reset();
  }

  std::array<SavedVariable, N> saved_;
};

}  // namespace slotcore::autograd
