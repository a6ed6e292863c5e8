// The backward of a custom Function.

#include "core/python/function/py_node.h"

#include "core/c10/tensor/tensor_arithmetic.h"
#include "core/c10/trace.h"
#include "core/python/autograd/gradients.h"
#include "core/python/preserve/released_gil.h"

namespace slotcore::python {

using autograd::Gradients, autograd::TensorPtr;

PyNode::PyNode(FunctionContext* context)
    : interpreter_(context->interpreter),
      context_(Py_NewRef(reinterpret_cast<PyObject*>(context))),
      name_(Py_TYPE(context)->tp_name) {
  // The tag keeps other interpreters away from ctx (T2).
  pyobj_slot()->claim(interpreter_->tag(),
                      pyobj_slot()->status(interpreter_->tag(), raw::is_unescaped(this)));
  trace("reference taken", {"owner", this}, {"owned", context_}, {"link", "ctx"});
}

void PyNode::release_resources() noexcept {
  Node::release_resources();
  // The node has expired: a finalizer that this runs finds ctx without a node.
  // What forward has saved goes with the node, also if ctx lives on (A2a). The ctx of a legacy
  // Function may belong to the node of a later call.
  const auto drop = [](void* context) noexcept {
    auto* object = static_cast<PyObject*>(context);
    bool is_of_later_call = !as_context(object)->parts->node.expired();
    if (Py_REFCNT(object) > 1 && !is_of_later_call) release_saved(as_context(object));
    PyRef::steal(object);
  };
  interpreter_->drop(drop, std::exchange(context_, nullptr));
}

void PyNode::visit_owned(autograd::OwnedVisitor& visitor) const {
  Node::visit_owned(visitor);
  // Once, however many tensors own the node. ctx reports what it owns itself.
  if (context_ != nullptr) visitor.object("ctx", context_);
}

bool PyNode::release_variables() noexcept {
  TakenGil gil(*interpreter_);
  if (!gil.held()) return true;
  PyRef keep = PyRef::borrow(context_);
  // The ctx of a legacy Function may belong to a later call.
  if (as_context(context_)->parts->node.lock().get() != this) return true;
  as_context(context_)->is_released = true;
  release_saved(as_context(context_));
  return true;
}

PyRef PyNode::argument(ModuleState* state, size_t i, const TensorPtr& gradient) const {
  bool is_zeros = !gradient && results_.at(i) && as_context(context_)->materialize_grads;
  if (!is_zeros) return gradient_object(state, gradient);
  const autograd::InputMetadata& expected = inputs()[i];
  return gradient_object(
      state, make_intrusive<TensorImpl>(expected.sizes(), expected.type, expected.place));
}

Gradients PyNode::gradients_from(ModuleState* state, PyObject* returned) const {
  PyRef tuple = PyTuple_Check(returned) ? PyRef::borrow(returned)
                                        : PyRef::steal(checked(PyTuple_Pack(1, returned)));
  size_t count = static_cast<size_t>(PyTuple_GET_SIZE(tuple.get()));
  Gradients gradients;
  for (size_t i = 0; i < std::max(count, arguments_.size()); i++) {
    PyObject* one = i < count ? PyTuple_GET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i)) : nullptr;
    bool is_surplus = i >= arguments_.size();
    if (one == nullptr || (is_surplus && one != Py_None)) {
      throw_python(PyExc_RuntimeError, "%s returned %zu gradients, and %zu were expected",
                   name_.c_str(), count, arguments_.size());
    }
    if (is_surplus) continue;
    if (arguments_[i]) {
      gradients.push_back(gradient_of(state, one, name_.c_str()));
    } else if (one != Py_None) {
      throw_python(PyExc_RuntimeError,
                   "%s returned a gradient for argument %zu of forward, which was not a tensor",
                   name_.c_str(), i);
    }
  }
  return gradients;
}

Gradients PyNode::apply(Gradients gradients) {
  return with_taken_gil(*interpreter_, [&] { return call_backward(gradients); });
}

Gradients PyNode::call_backward(Gradients& gradients) const {
  ModuleState* state = interpreter_->module;
  if (state == nullptr) throw_python(PyExc_RuntimeError, "slotcore has been unloaded");
  PyRef context = PyRef::borrow(context_);
  PyRef arguments = PyRef::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(gradients.size()))));
  for (size_t i = 0; i < gradients.size(); i++) {
    PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(i),
                     argument(state, i, gradients[i]).release());
  }
  gradients.clear();
  const char* name = as_context(context_)->is_legacy ? "backward" : "apply";
  PyRef method = PyRef::steal(checked(PyObject_GetAttrString(context.get(), name)));
  PyRef returned = called(PyObject_Call, method.get(), arguments.get(), nullptr);
  return gradients_from(state, returned.get());
}

}  // namespace slotcore::python
