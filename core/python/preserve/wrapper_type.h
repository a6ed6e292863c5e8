// The metaclass of a kind of wrapper.
//
// Note [Why a metaclass]
// CPython gives every class made in Python its own dealloc, which runs `__del__`, clears weak
// references and empties `__dict__` before it asks the base class. By then there is nothing left
// to preserve (P2). So the metaclass puts the functions of the base class into each new class.
#pragma once

#include <Python.h>

#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

// A metaclass called slotcore.`name`. Throws PythonErrorSet.
PyRef make_metaclass(PyObject* module, const char* qualified_name);

// The class of new wrappers: an empty class `name` of that metaclass, derived from `base`. Throws
// PythonErrorSet.
PyRef make_wrapper_class(PyObject* metaclass, const char* name, PyObject* base, const char* doc);

}  // namespace slotcore::python
