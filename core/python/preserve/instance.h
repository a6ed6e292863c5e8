// What a class statement adds to an instance: `__dict__`, `__slots__` and weak references. For
// subclasses CPython handles these in its own dealloc, traverse and clear, which the core replaces
// (see wrapper_type.h). CPython offers no separate function for each, so this file has them.
#pragma once

#include <Python.h>
#include <structmember.h>

namespace slotcore::python {

// The kind of member that `__slots__` makes.
#if PY_VERSION_HEX >= 0x030C0000
inline constexpr int kObjectSlot = Py_T_OBJECT_EX;
#else
inline constexpr int kObjectSlot = T_OBJECT_EX;
#endif

// Visits the values of `__slots__`, up the bases, and `__dict__`.
int visit_instance(PyObject* self, visitproc visit, void* arg) noexcept;
// Clears them. Runs user code.
void clear_instance(PyObject* self) noexcept;
// Clears the weak references and runs their callbacks.
void clear_weak_references(PyObject* self) noexcept;

}  // namespace slotcore::python
