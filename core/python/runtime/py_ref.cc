// The Python exception for each C++ exception.

#include "core/python/runtime/py_ref.h"

#include <cstdarg>
#include <cstring>
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

namespace {

// A message may end in the middle of a character, where it is cut.
void set_error(PyObject* type, const std::exception& error) noexcept {
  const char* what = error.what();
  auto size = static_cast<Py_ssize_t>(std::strlen(what));
  PyRef message = PyRef::steal(PyUnicode_DecodeUTF8(what, size, "backslashreplace"));
  if (message) PyErr_SetObject(type, message.get());
}

}  // namespace

void set_python_error() noexcept {
  try {
    throw;
  } catch (const PythonErrorSet&) {
    // The Python exception is already set.
  } catch (const NoDataError& error) {
    set_error(PyExc_NotImplementedError, error);
  } catch (const UntraceableError& error) {
    set_error(PyExc_NotImplementedError, error);
  } catch (const PinnedError& error) {
    set_error(PyExc_BufferError, error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::out_of_range& error) {
    set_error(PyExc_IndexError, error);
  } catch (const std::domain_error& error) {
    set_error(PyExc_ZeroDivisionError, error);
  } catch (const std::invalid_argument& error) {
    set_error(PyExc_ValueError, error);
  } catch (const std::exception& error) {
    set_error(PyExc_RuntimeError, error);
  }
}

}  // namespace slotcore::python
