// Small things that every file of the Python layer needs to cross between C++ and CPython: an
// owning reference, the pending exception, and the translation of C++ exceptions.
#pragma once

#include <Python.h>

#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/python/runtime/killed_thread.h"

namespace slotcore::python {

// Owns one reference, or null.
class PyRef {
 public:
  PyRef() noexcept = default;
  static PyRef steal(PyObject* object) noexcept {
    PyRef result;
    result.object_ = object;
    return result;
  }
  static PyRef borrow(PyObject* object) noexcept {
    Py_XINCREF(object);
    return steal(object);
  }
  PyRef(PyRef&& other) noexcept : object_(other.release()) {}
  PyRef& operator=(PyRef other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~PyRef() {
    unless_killed([&] { Py_XDECREF(object_); });
  }

  PyObject* get() const noexcept { return object_; }
  PyObject* release() noexcept { return std::exchange(object_, nullptr); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Sets `object` to null, and then releases its reference.
inline void clear(PyObject*& object) noexcept { PyRef::steal(std::exchange(object, nullptr)); }

// Sets the pending exception of the thread aside and puts it back. Deallocation may happen while
// an exception passes, and must neither see nor replace it.
class PendingException {
 public:
#if PY_VERSION_HEX >= 0x030C0000
  PendingException() noexcept : value_(PyErr_GetRaisedException()) {}
  ~PendingException() { PyErr_SetRaisedException(value_); }
#else
  PendingException() noexcept { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~PendingException() { PyErr_Restore(type_, value_, traceback_); }
#endif
  PendingException(const PendingException&) = delete;
  PendingException& operator=(const PendingException&) = delete;

 private:
#if PY_VERSION_HEX < 0x030C0000
  PyObject* type_ = nullptr;
  PyObject* traceback_ = nullptr;
#endif
  PyObject* value_ = nullptr;
};

// Thrown when a Python exception is already set and only has to be propagated.
struct PythonErrorSet {};

// Sets a Python exception with a formatted message (as PyErr_Format) and throws PythonErrorSet.
[[noreturn]] void throw_python(PyObject* type, const char* format, ...);

// Propagates the error of a CPython call that returned null or -1.
inline PyObject* checked(PyObject* object) {
  if (object == nullptr) throw PythonErrorSet{};
  return object;
}
inline void checked(int result) {
  if (result < 0) throw PythonErrorSet{};
}

// What a function of CPython that may run Python returns for these arguments. Throws
// PythonErrorSet if it raises.
template <typename Function, typename... Arguments>
PyRef called(Function function, Arguments... arguments) {
  return PyRef::steal(checked(unless_killed([&] { return function(arguments...); })));
}

// The value of an int, or of what has __index__. Throws PythonErrorSet, also beyond 64 bits.
int64_t checked_int(PyObject* number);

// Casts a function to the one pointer type that PyMethodDef has.
template <class Function>
PyCFunction method(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

// Turns the C++ exception that is being handled into a Python one.
void set_python_error() noexcept;

// Runs the body of a function that CPython calls; an exception becomes the error result.
template <class Body>
auto guarded(Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    set_python_error();
  }
  if constexpr (std::is_pointer_v<decltype(body())>) {
    return nullptr;
  } else {
    return -1;
  }
}

}  // namespace slotcore::python
