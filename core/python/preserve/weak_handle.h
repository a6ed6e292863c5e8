// Methods about weak references that wrappers of all kinds have. `_fix_weakref` is about Python's
// weak references; the others are about C++ weak references as int handles: `_weak_ref`,
// `_expired`, `_free_weak_ref`. A handle is the address of the impl and owns one weak reference. As
// in torch, code cannot detect the use of a handle that was freed.
#pragma once

#include <Python.h>

#include "core/c10/intrusive_ptr.h"
#include "core/c10/trace.h"
#include "core/python/runtime/py_ref.h"
#include "core/python/preserve/wrapper.h"

namespace slotcore::python::weak_handle {

// The address in a handle. Throws PythonErrorSet for an object that is not an int, and for 0.
intrusive_ptr_target* target_of(PyObject* handle);

// The bodies of METH_NOARGS and METH_O methods.
PyObject* weak_ref(PyObject* self, PyObject*) noexcept;
PyObject* fix_weakref(PyObject* self, PyObject*) noexcept;
PyObject* expired(PyObject*, PyObject* handle) noexcept;
PyObject* free_weak_ref(PyObject*, PyObject* handle) noexcept;

// A strong reference to the impl of a handle, or null when the impl has expired.
template <class T>
intrusive_ptr<T> lock(PyObject* handle) {
  intrusive_ptr_target* target = target_of(handle);
  T* locked = raw::try_lock(target) ? static_cast<T*>(target) : nullptr;
  trace("handle locked", {"handle", target}, {"impl", locked});
  return intrusive_ptr<T>::reclaim(locked);
}

}  // namespace slotcore::python::weak_handle
