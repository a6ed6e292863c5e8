// PyNode: the graph node of one call of a custom Function. It owns the call's ctx; see
// Note [The node owns ctx].
#pragma once

#include "core/autograd/node.h"
#include "core/python/function/context.h"

namespace slotcore::python {

class PyNode final : public autograd::Node {
 public:
  // Adds a reference to `context`, whose node this becomes when the caller stores a weak reference
  // there. Needs the GIL.
  explicit PyNode(FunctionContext* context);

  PyObject* python_object() const noexcept override { return context_; }
  std::string name() const override { return name_; }
  // Calls `ctx.apply(*gradients)`, or `ctx.backward` of a legacy Function, under the GIL, which the
  // engine has given up. Missing gradients are zeros, or None (A8).
  autograd::Gradients apply(autograd::Gradients gradients) override;
  // What backwards at the same time have fetched of ctx stays with them, so none of them fails.
  bool release_variables() noexcept override;
  void visit_owned(autograd::OwnedVisitor& visitor) const override;

  // Which arguments of forward, and which of its results, are tensors. Called by apply() of the
  // Function, before another thread can know the node.
  void set_arguments(std::vector<bool> is_tensor) { arguments_ = std::move(is_tensor); }
  void set_results(std::vector<bool> is_tensor) { results_ = std::move(is_tensor); }

 protected:
  void release_resources() noexcept override;

 private:
  // The gradient of result `i` as an argument of backward.
  PyRef argument(ModuleState* state, size_t i, const autograd::TensorPtr& gradient) const;
  autograd::Gradients call_backward(autograd::Gradients& gradients) const;
  autograd::Gradients gradients_from(ModuleState* state, PyObject* returned) const;

  Interpreter* interpreter_;
  PyObject* context_;
  std::string name_;  // read without the GIL, unlike the class of ctx
  std::vector<bool> arguments_, results_;
};

}  // namespace slotcore::python
