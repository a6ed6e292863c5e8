// dtype: the Python objects of the element types, `slotcore.float32` and so on.
#pragma once

#include <Python.h>

#include <optional>

#include "core/c10/tensor/elements.h"
#include "core/c10/tensor/tensor_arithmetic.h"
#include "core/python/runtime/module_state.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

// Makes the type and its only instances, and adds them to the module. Throws PythonErrorSet.
void add_dtypes(PyObject* module, ModuleState* state);

// A new reference.
PyObject* dtype_object(ModuleState* state, ScalarType type);
// Throws PythonErrorSet for an object that is not a dtype.
ScalarType scalar_type_of(ModuleState* state, PyObject* dtype);

// The element at `offset` of a tensor of `type`, as a Python number. Throws PythonErrorSet.
PyObject* number_of(const Elements& elements, ScalarType type, int64_t offset);
// Converts a Python number into an element in memory. Throws PythonErrorSet: RuntimeError for a
// value that does not fit, TypeError for an object that is not a number.
void store_element(void* element, ScalarType type, PyObject* value);
// A bool, int, float or complex; nullopt for anything else. Runs no user code. Throws
// PythonErrorSet (RuntimeError) for an int that is too large.
std::optional<arithmetic::Scalar> scalar_of(PyObject* object);

}  // namespace slotcore::python
