// OwnedObject: a reference of C++ to a Python object that has no slot.
#pragma once

#include <Python.h>

#include "core/python/preserve/interpreter.h"

namespace slotcore::python {

// Any thread may release it, as an impl releases its wrapper: Note [Without the GIL, defer the
// work].
class OwnedObject {
 public:
  // Adds a reference. Needs the GIL.
  OwnedObject(Interpreter* interpreter, PyObject* object) noexcept
      : interpreter_(interpreter), object_(Py_NewRef(object)) {}
  ~OwnedObject() { interpreter_->decref(object_); }
  OwnedObject(const OwnedObject&) = delete;
  OwnedObject& operator=(const OwnedObject&) = delete;

  PyObject* get() const noexcept { return object_; }
  Interpreter* interpreter() const noexcept { return interpreter_; }

 private:
  Interpreter* interpreter_;
  PyObject* object_;
};

}  // namespace slotcore::python
