// Methods about weak references that all kinds of wrappers have. `_fix_weakref` concerns Python's;
// the others are C++ weak references as int handles: `_weak_ref`, `_expired`, `_free_weak_ref`. A
// handle is the address of the impl and owns one weak reference; as in torch, using a handle after
// it was freed is an error that nobody can detect.
#pragma once

#include <Python.h>

#include "core/c10/intrusive_ptr.h"
#include "core/python/runtime/py_ref.h"
#include "core/python/preserve/wrapper.h"

namespace slotcore::python::weak_handle {

// The address behind a handle. Throws PythonErrorSet for what is not an int, and for 0.
intrusive_ptr_target* target_of(PyObject* handle);

// The bodies of METH_NOARGS and METH_O methods.
PyObject* weak_ref(PyObject* self, PyObject*) noexcept;
PyObject* fix_weakref(PyObject* self, PyObject*) noexcept;
PyObject* expired(PyObject*, PyObject* handle) noexcept;
PyObject* free_weak_ref(PyObject*, PyObject* handle) noexcept;

// A strong reference of the impl of a handle, or null when it has expired.
template <class T>
intrusive_ptr<T> lock(PyObject* handle) {
  intrusive_ptr_target* target = target_of(handle);
  return intrusive_ptr<T>::reclaim(raw::try_lock(target) ? static_cast<T*>(target) : nullptr);
}

}  // namespace slotcore::python::weak_handle
