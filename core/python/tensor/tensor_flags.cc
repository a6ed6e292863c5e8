// Flags of a tensor: it requires a gradient, is conjugated or negated.

#include "core/autograd/functions/arithmetic.h"
#include "core/autograd/functions/view.h"
#include "core/c10/tensor/tensor_views.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

// A tensor that is not a leaf requires a gradient, and this cannot be changed.
void change_requires_grad(TensorImpl& tensor, bool requires_grad, bool may_stay) {
  bool is_leaf = autograd::is_leaf(tensor);
  if (!is_leaf && !(may_stay && requires_grad)) {
    throw_python(PyExc_RuntimeError,
                 "you can only change requires_grad flags of leaf variables; use detach()");
  }
  if (is_leaf) autograd::set_requires_grad(tensor, requires_grad);
}

PyObject* get_requires_grad(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(self_tensor(self).requires_grad()); });
}

int set_requires_grad(PyObject* self, PyObject* value, void*) {
  return guarded([&] {
    if (value == nullptr || !PyBool_Check(value))
      throw_python(PyExc_RuntimeError, "requires_grad must be a bool");
    change_requires_grad(self_tensor(self), value == Py_True, /*may_stay=*/false);
    return 0;
  });
}

PyObject* requires_grad(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"requires_grad", nullptr};
    PyObject* value = Py_True;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O!:requires_grad_", const_cast<char**>(names),
                                     &PyBool_Type, &value)) {
      throw PythonErrorSet{};
    }
    change_requires_grad(self_tensor(self), value == Py_True, /*may_stay=*/true);
    return wrapped_again(self);
  });
}

PyObject* detach_in_place(PyObject* self, PyObject*) {
  return guarded([&] {
    autograd::detach_in_place(self_tensor(self));
    return wrapped_again(self);
  });
}

PyObject* get_is_leaf(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(autograd::is_leaf(self_tensor(self))); });
}

PyObject* conj(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    TensorImpl& tensor = self_tensor(self);
    if (!is_complex(tensor.type())) return wrapped_again(self);
    return new_tensor(state_of_wrapper(self),
                      autograd::record_view(tensor, "ConjBackward0", &views::conj));
  });
}

PyObject* neg_view(PyObject* self, PyObject*) {
  return guarded([&] {
    return new_tensor(
        state_of_wrapper(self),
        autograd::record_view(self_tensor(self), "NegViewBackward0", &views::neg_view));
  });
}

PyObject* is_conj(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(self_tensor(self).bits().conj); });
}

PyObject* is_neg(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(self_tensor(self).bits().neg); });
}

// The tensor itself, or a copy of its numbers without bits.
PyObject* resolved(PyObject* self, bool ValueBits::*bit) {
  return guarded([&]() -> PyObject* {
    TensorImpl& tensor = self_tensor(self);
    if (!(tensor.bits().*bit)) return wrapped_again(self);
    return new_tensor(state_of_wrapper(self), autograd::clone(tensor));
  });
}

PyObject* resolve_conj(PyObject* self, PyObject*) { return resolved(self, &ValueBits::conj); }
PyObject* resolve_neg(PyObject* self, PyObject*) { return resolved(self, &ValueBits::neg); }

}  // namespace

PyMethodDef tensor_flag_methods[] = {
    {"requires_grad_", method(&requires_grad), METH_VARARGS | METH_KEYWORDS,
     "requires_grad_(requires_grad=True) -> self. RuntimeError if it is not a leaf or\n"
     "has a dtype without gradients."},
    {"detach_", &detach_in_place, METH_NOARGS,
     "detach_() -> self, which becomes a leaf without a gradient. RuntimeError for a view."},
    {"conj", &conj, METH_NOARGS,
     "conj() -> Tensor: a view with the numbers conjugated; for real numbers the tensor itself."},
    {"_neg_view", &neg_view, METH_NOARGS,
     "_neg_view() -> Tensor: a view with the numbers negated."},
    {"is_conj", &is_conj, METH_NOARGS, "is_conj() -> bool: whether it is read conjugated."},
    {"is_neg", &is_neg, METH_NOARGS, "is_neg() -> bool: whether it is read negated."},
    {"resolve_conj", &resolve_conj, METH_NOARGS,
     "resolve_conj() -> self, or a copy if it is read conjugated."},
    {"resolve_neg", &resolve_neg, METH_NOARGS,
     "resolve_neg() -> self, or a copy if it is read negated."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef tensor_flag_properties[] = {
    {"requires_grad", &get_requires_grad, &set_requires_grad,
     "A flag, which views and results inherit. RuntimeError as for requires_grad_.", nullptr},
    {"is_leaf", &get_is_leaf, nullptr, "False if it was computed from a tensor that requires grad.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace slotcore::python
