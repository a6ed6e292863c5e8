// SavingNode: a node that saves tensors for its backward.
#pragma once

#include <stdexcept>

#include "core/autograd/saved/saved_variable.h"
#include "core/c10/impl/protocol/saved_data.h"

namespace slotcore::autograd {

// Saves up to N tensors.
template <size_t N>
class SavingNode : public Node {
 public:
  bool release_variables() noexcept override {
    trace_released(this);
    bool is_any = false;
    for (const SavedVariable::Owned& released : saved_.release()) is_any = is_any || released;
    return is_any;
  }
  void visit_owned(OwnedVisitor& visitor) const override {
    Node::visit_owned(visitor);
    for (const SavedVariable& one : saved_.unguarded()) one.visit_owned(visitor);
  }
  void release_objects() noexcept override {
    Node::release_objects();
    for (SavedVariable& one : saved_.unguarded()) {
      if (one.is_packed()) SavedVariable::Owned released = one.release();
    }
  }

 protected:
  // What was saved as number `i`. Throws what SavedVariable::unpack() throws, and runtime_error if
  // nothing was saved because a pack hook raised. apply() unpacks before it looks whether there is
  // a gradient, so that A2a and A2b hold for a node that gets none.
  TensorPtr unpack(size_t i) {
    SavedVariable saved = saved_.copy(i);
    TensorPtr tensor = saved.unpack(intrusive_ptr<Node>::retain(this));
    if (!tensor) throw std::runtime_error(name() + " has not saved what it needs: a hook raised");
    return tensor;
  }
  void release_resources() noexcept override {
    Node::release_resources();
    for (SavedVariable& one : saved_.unguarded()) SavedVariable::Owned released = one.release();
  }

  // Before another thread knows the node.
  void set_saved(size_t i, SavedVariable saved) {
    saved.trace_owned(this);
    saved_.unguarded()[i] = std::move(saved);
  }

 private:
  impl::protocol::SavedData<impl::protocol::StdPolicy, SavedVariable, N> saved_{mutex_};
};

}  // namespace slotcore::autograd
