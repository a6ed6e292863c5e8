// dtype: the Python objects of the element types, `slotcore.float32` and so on.
#pragma once

#include <Python.h>

#include "core/c10/scalar_type.h"
#include "core/python/module_state.h"
#include "core/python/py_ref.h"

namespace slotcore::python {

// Makes the type and its only instances, and adds them to the module. Throws PythonErrorSet.
void add_dtypes(PyObject* module, ModuleState* state);

// A new reference.
PyObject* dtype_object(ModuleState* state, ScalarType type);
// Throws PythonErrorSet for what is not a dtype.
ScalarType scalar_type_of(ModuleState* state, PyObject* dtype);

// One element as a Python number, and back. Reading throws PythonErrorSet when it fails; a value
// that does not fit is a RuntimeError, one that is no number a TypeError.
PyObject* load_element(const void* element, ScalarType type);
void store_element(void* element, ScalarType type, PyObject* value);

}  // namespace slotcore::python
