// Ownership of an exception outside of a thread state.

#include "core/python/preserve/python_error.h"

#include <utility>

namespace slotcore::python {

struct PythonError::Exception {
  explicit Exception(const Interpreter& interpreter) : interpreter(interpreter) {
#if PY_VERSION_HEX >= 0x030C0000
    value = PyErr_GetRaisedException();
#else
    PyObject *type, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != nullptr) PyException_SetTraceback(value, traceback);
    Py_DECREF(type);
    Py_XDECREF(traceback);
#endif
  }
  // On any thread, perhaps without the GIL: the second error of a backward is dropped.
  ~Exception() {
    if (value != nullptr) interpreter.decref(value);
  }
  Exception(const Exception&) = delete;
  Exception& operator=(const Exception&) = delete;

  const Interpreter& interpreter;
  PyObject* value;
};

PythonError::PythonError(const Interpreter& interpreter)
    : exception_(std::make_shared<Exception>(interpreter)) {}

void PythonError::restore() const noexcept {
  PyObject* value = std::exchange(exception_->value, nullptr);
#if PY_VERSION_HEX >= 0x030C0000
  PyErr_SetRaisedException(value);
#else
  PyErr_Restore(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(value))), value,
                PyException_GetTraceback(value));
#endif
}

}  // namespace slotcore::python
