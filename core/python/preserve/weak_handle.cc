// Handles work the same for every kind of impl, because the counts are in the base class.

#include "core/python/preserve/weak_handle.h"

#include "core/c10/impl/hermetic_py_object_tls.h"

namespace slotcore::python::weak_handle {

intrusive_ptr_target* target_of(PyObject* handle) {
  void* address = PyLong_AsVoidPtr(handle);
  if (address == nullptr && PyErr_Occurred()) throw PythonErrorSet{};
  if (address == nullptr) throw_python(PyExc_ValueError, "0 is not a handle of _weak_ref()");
  return static_cast<intrusive_ptr_target*>(address);
}

PyObject* weak_ref(PyObject* self, PyObject*) noexcept {
  return guarded([&] {
    auto* target = impl_of<intrusive_ptr_target>(self);
    PyObject* handle = checked(PyLong_FromVoidPtr(target));
    raw::weak_incref(target);
    return handle;
  });
}

PyObject* fix_weakref(PyObject* self, PyObject*) noexcept {
  return guarded([&]() -> PyObject* {
    impl_of<intrusive_ptr_target>(self);
    // take_over() gives us the slot's reference to the wrapper; the caller has its own reference.
    // In hermetic mode the slot is not touched (H1).
    if (!impl::HermeticPyObjectTLS::get_state() && preserve::take_over(as_wrapper(self)))
      Py_DECREF(self);
    Py_RETURN_NONE;
  });
}

PyObject* expired(PyObject*, PyObject* handle) noexcept {
  return guarded([&] { return PyBool_FromLong(raw::use_count(target_of(handle)) == 0); });
}

PyObject* free_weak_ref(PyObject*, PyObject* handle) noexcept {
  return guarded([&]() -> PyObject* {
    // torch takes None for "no reference" here.
    if (handle != Py_None) raw::weak_decref(target_of(handle));
    Py_RETURN_NONE;
  });
}

}  // namespace slotcore::python::weak_handle
