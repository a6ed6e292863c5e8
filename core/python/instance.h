// What a class statement adds to an instance: `__dict__`, `__slots__` and weak references. CPython
// handles these in its own dealloc, traverse and clear for subclasses, which we replace (see
// wrapper_type.h), and offers no function for each; hence these.
#pragma once

#include <Python.h>

namespace slotcore::python {

// Visits the values of `__slots__`, up the bases, and `__dict__`.
int visit_instance(PyObject* self, visitproc visit, void* arg) noexcept;
// Drops them. Runs code of the user.
void clear_instance(PyObject* self) noexcept;
// Clears the weak references and runs their callbacks.
void clear_weak_references(PyObject* self) noexcept;

}  // namespace slotcore::python
