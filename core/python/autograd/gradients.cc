// Conversions between C++ and Python.

#include "core/python/autograd/gradients.h"

namespace slotcore::python {

using autograd::Gradients, autograd::TensorPtr;

PyRef gradient_object(ModuleState* state, const TensorPtr& gradient) {
  if (!gradient) return PyRef::borrow(Py_None);
  return PyRef::steal(wrap_tensor(state, gradient));
}

PyRef gradient_tuple(ModuleState* state, const Gradients& gradients) {
  PyRef tuple = PyRef::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(gradients.size()))));
  for (size_t i = 0; i < gradients.size(); i++) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                     gradient_object(state, gradients[i]).release());
  }
  return tuple;
}

TensorPtr gradient_of(ModuleState* state, PyObject* object, const char* what) {
  if (object == Py_None) return nullptr;
  return TensorPtr::retain(&checked_tensor(state, object, what));
}

Gradients gradients_of(ModuleState* state, PyObject* object, const char* what) {
  if (!PyTuple_Check(object)) return {gradient_of(state, object, what)};
  Gradients gradients;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); i++)
    gradients.push_back(gradient_of(state, PyTuple_GET_ITEM(object, i), what));
  return gradients;
}

}  // namespace slotcore::python
