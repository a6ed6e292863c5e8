// The Python exception for each C++ exception.

#include "core/python/runtime/py_ref.h"

#include <cstdarg>
#include <new>
#include <stdexcept>

#include "core/c10/impl/operation_tracer_tls.h"
#include "core/c10/storage_impl.h"

namespace slotcore::python {

void throw_python(PyObject* type, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  PyErr_FormatV(type, format, arguments);
  va_end(arguments);
  throw PythonErrorSet{};
}

int64_t checked_int(PyObject* number) {
  PyRef index = PyRef::steal(checked(PyNumber_Index(number)));
  int64_t value = PyLong_AsLongLong(index.get());
  if (value == -1 && PyErr_Occurred()) throw PythonErrorSet{};
  return value;
}

void set_python_error() noexcept {
  try {
    throw;
  } catch (const PythonErrorSet&) {
    // The Python exception is already set.
  } catch (const NoDataError& error) {
    PyErr_SetString(PyExc_NotImplementedError, error.what());
  } catch (const UntraceableError& error) {
    PyErr_SetString(PyExc_NotImplementedError, error.what());
  } catch (const PinnedError& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::out_of_range& error) {
    PyErr_SetString(PyExc_IndexError, error.what());
  } catch (const std::domain_error& error) {
    PyErr_SetString(PyExc_ZeroDivisionError, error.what());
  } catch (const std::invalid_argument& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

}  // namespace slotcore::python
