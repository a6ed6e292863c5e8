// The part of a graph that a tensor has: its node, and hooks on its gradient.

#include <algorithm>

#include "core/autograd/history.h"
#include "core/autograd/retains_grad.h"
#include "core/python/autograd/graph.h"
#include "core/python/autograd/node_attributes.h"
#include "core/python/autograd/owned_rows.h"
#include "core/python/autograd/python_hook.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

using autograd::Node, autograd::TensorPtr;

PyObject* get_grad_fn(PyObject* self, void*) {
  return guarded([&] {
    auto tensor = TensorPtr::retain(&self_tensor(self));
    return wrap_node(state_of_wrapper(self), autograd::grad_fn(*tensor)).release();
  });
}

PyObject* get_output_nr(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromUnsignedLong(autograd::output_nr(self_tensor(self))); });
}

PyObject* get_retains_grad(PyObject* self, void*) {
  return guarded([&] {
    auto tensor = TensorPtr::retain(&self_tensor(self));
    return PyBool_FromLong(autograd::retains_grad(*tensor));
  });
}

PyObject* retain_grad(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    auto tensor = TensorPtr::retain(&self_tensor(self));
    if (!tensor->requires_grad()) {
      throw_python(PyExc_RuntimeError,
                   "can't retain_grad on a Tensor that has requires_grad=False");
    }
    autograd::retain_grad(*tensor);
    Py_RETURN_NONE;
  });
}

PyObject* tensor_owned_by_cpp(PyObject* self, PyObject*) {
  return guarded([&] {
    TensorImpl& tensor = self_tensor(self);
    ReferenceRows rows;
    rows.add_impl_of(self, "tensor");
    add_links(rows, self, autograd::owned_links(tensor));
    return rows.take().release();
  });
}

PyObject* get_backward_hooks(PyObject* self, void*) {
  return guarded([&] {
    self_tensor(self);
    PyObject* hooks = reinterpret_cast<TensorWrapper*>(self)->backward_hooks;
    return Py_NewRef(hooks == nullptr ? Py_None : hooks);
  });
}

// Whether the tensor's present node runs the hooks in `dict`.
bool runs_hooks_in(TensorImpl& tensor, PyObject* dict) {
  const auto hooks = autograd::hooks_of(tensor);
  return std::any_of(hooks.begin(), hooks.end(),
                     [dict](const auto& hook) { return hook->python_object() == dict; });
}

// As in torch, this also replaces the hooks of a leaf; those of a node stay with the node, and run
// once for each gradient, though they may be set again.
int set_backward_hooks(PyObject* self, PyObject* value, void*) {
  return guarded([&] {
    if (value == nullptr) throw_python(PyExc_RuntimeError, "the hooks cannot be deleted");
    auto tensor = TensorPtr::retain(&self_tensor(self));
    // Dropped at the end, because that may run user code.
    auto hooks = autograd::take_leaf_hooks(*tensor);
    bool is_run = value == Py_None || runs_hooks_in(*tensor, value);  // may throw
    PyObject*& slot = reinterpret_cast<TensorWrapper*>(self)->backward_hooks;
    PyRef former = PyRef::steal(slot);
    slot = value == Py_None ? nullptr : Py_NewRef(value);
    if (!is_run) {
      Interpreter* interpreter = state_of_wrapper(self)->interpreter;
      autograd::add_hook(*tensor, std::make_shared<TensorHook>(interpreter, value));
    }
    return 0;
  });
}

PyObject* tensor_release_objects(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    release_objects_of_graph(autograd::grad_fn(self_tensor(self)));
    Py_RETURN_NONE;
  });
}

// The dict of the tensor's hooks on its present node: the one of earlier hooks, or a new one if an
// operation has given the tensor another node since (A3g).
PyRef hook_dict(PyObject* self) {
  auto tensor = TensorPtr::retain(&self_tensor(self));
  PyObject* known = reinterpret_cast<TensorWrapper*>(self)->backward_hooks;  // borrowed
  if (known != nullptr && runs_hooks_in(*tensor, known)) return PyRef::borrow(known);
  PyRef dict = PyRef::steal(checked(PyODict_New()));
  checked(set_backward_hooks(self, dict.get(), nullptr));
  return dict;
}

PyObject* tensor_register_hook(PyObject* self, PyObject* callable) {
  return guarded([&] {
    if (!self_tensor(self).requires_grad()) {
      throw_python(PyExc_RuntimeError,
                   "cannot register a hook on a tensor that doesn't require gradient");
    }
    ModuleState* state = state_of_wrapper(self);
    return add_hook(state, hook_dict(self).get(), callable).release();
  });
}

}  // namespace

PyMethodDef tensor_graph_methods[] = {
    {"_owned_by_cpp", &tensor_owned_by_cpp, METH_NOARGS,
     "_owned_by_cpp() -> list of (address of an owner, name of the reference, address of what it\n"
     "owns, its name, its strong references or 0 for a Python object, is in a cycle): all that\n"
     "this tensor owns in C++. Nothing frees what is in a cycle."},
    {"_release_objects", &tensor_release_objects, METH_NOARGS,
     "_release_objects(): for tests. Frees the Python objects that nodes of this tensor's graph\n"
     "own, except hooks: what pack hooks have made, and metadata. No thread may run the graph."},
    {"retain_grad", &retain_grad, METH_NOARGS,
     "retain_grad(): a backward sets the `.grad` of this tensor too, although it is no leaf.\n"
     "RuntimeError if it requires no gradient."},
    {"register_hook", &tensor_register_hook, METH_O,
     "register_hook(hook) -> RemovableHandle. A backward calls hook(grad), which returns None or\n"
     "what replaces the gradient. RuntimeError if the tensor requires no gradient."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef tensor_graph_properties[] = {
    {"grad_fn", &get_grad_fn, nullptr, "The node that computed this tensor; None for a leaf.",
     nullptr},
    {"output_nr", &get_output_nr, nullptr, "The number of this tensor among the node's results.",
     nullptr},
    {"retains_grad", &get_retains_grad, nullptr, "Whether retain_grad() has an effect.", nullptr},
    {"_backward_hooks", &get_backward_hooks, &set_backward_hooks,
     "The dict of hooks that were registered on this wrapper; or None. Set to a dict: a backward\n"
     "calls its values.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace slotcore::python
