// Hermetic mode for Python: enter, exit, and a context manager (H1, H4).
#pragma once

#include <Python.h>

#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

// The type of `hermetic()`. Throws PythonErrorSet.
PyRef make_hermetic_type(PyObject* module);

extern PyMethodDef hermetic_methods[];

}  // namespace slotcore::python
