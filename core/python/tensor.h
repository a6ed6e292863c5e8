// The Python type of a TensorImpl: TensorBase in C, Tensor derived from it.
#pragma once

#include <Python.h>

#include "core/c10/tensor_impl.h"
#include "core/python/module_state.h"
#include "core/python/py_ref.h"
#include "core/python/wrapper.h"

namespace slotcore::python {

// TensorBase. Throws PythonErrorSet.
PyRef make_tensor_base(PyObject* module);

// The wrapper of a tensor. A new reference; throws PythonErrorSet, and ForeignInterpreterError if
// the tensor belongs to another interpreter (T2).
PyObject* wrap_tensor(ModuleState* state, intrusive_ptr<TensorImpl> tensor);

// The tensor behind a Python object, or null if it is not a tensor of this module.
TensorImpl* as_tensor(ModuleState* state, PyObject* object);

// Sizes from `(2, 3)` or from `((2, 3),)`. Throws PythonErrorSet.
Dims dims_of_arguments(PyObject* const* args, Py_ssize_t count);
Dims dims_of_sequence(PyObject* sequence);

// tensor_elements.cc: what touches the elements.
PyObject* tensor_tolist(PyObject* self, PyObject*);
PyObject* tensor_item(PyObject* self, PyObject*);
PyObject* tensor_copy(PyObject* self, PyObject* source);
PyObject* tensor_fill(PyObject* self, PyObject* value);
PyObject* tensor_float(PyObject* self);
PyObject* tensor_int(PyObject* self);
int tensor_bool(PyObject* self);
Py_ssize_t tensor_length(PyObject* self);
PyObject* tensor_subscript(PyObject* self, PyObject* key);
int tensor_assign_subscript(PyObject* self, PyObject* key, PyObject* value);

// factories.cc: ones, empty, tensor, frombuffer.
extern PyMethodDef factory_methods[];

}  // namespace slotcore::python
