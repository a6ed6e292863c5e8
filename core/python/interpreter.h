// Interpreter: one Python interpreter as the core sees it, that is the vtable behind its tag, and
// the few numbers and pointers that wrappers must reach even while the module is being torn down.
// There is one per Python interpreter, kept in the interpreter's own dict; it is never freed, and
// disarmed when that dict goes (Note [A PyInterpreter is never freed]).
#pragma once

#include <Python.h>

#include <cstdint>
#include <string>

#include "core/c10/impl/py_interpreter.h"

namespace slotcore::python {

struct ModuleState;

class Interpreter final : public impl::PyInterpreterVTable {
 public:
  // The one of the running interpreter; made at the first call. Throws PythonErrorSet.
  static Interpreter* current();

  const char* name() const noexcept override { return name_.c_str(); }
  void incref(PyObject* object) const noexcept override;
  void decref(PyObject* object) const noexcept override;
  impl::HandOver hand_over(intrusive_ptr_target* target,
                           impl::PyObjectSlot* slot) const noexcept override;

  // Runs `body(argument)` under the GIL, from any thread. False if the interpreter has ended, and
  // then nothing was run.
  bool run(void (*body)(void*) noexcept, void* argument) const noexcept;

  impl::PyInterpreter* tag() noexcept { return &tag_; }
  const impl::PyInterpreter* tag() const noexcept { return &tag_; }
  PyInterpreterState* state() const noexcept { return state_; }

  // The module that wraps for this interpreter, or null. Read and written under its GIL.
  ModuleState* module = nullptr;
  // Wrapper objects that exist. Read and written under its GIL.
  int64_t live_wrappers = 0;

 private:
  explicit Interpreter(PyInterpreterState* state);

  impl::PyInterpreter tag_;
  PyInterpreterState* state_;
  std::string name_;
};

}  // namespace slotcore::python
