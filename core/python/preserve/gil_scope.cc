// The thread state with which a thread enters.

#include "core/python/preserve/gil_scope.h"

#include "core/python/runtime/gil.h"
#include "core/python/runtime/killed_thread.h"

namespace slotcore::python {
namespace {

bool is_finalizing() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

constexpr bool kOneGil = PY_VERSION_HEX < 0x030C0000;  // for all interpreters

}  // namespace

bool holds_gil(const Interpreter& interpreter) noexcept {
  PyThreadState* current = current_thread_state();
  return current != nullptr && current->interp == interpreter.state();
}

bool enters_without_waiting(const Interpreter& interpreter) noexcept {
  return holds_gil(interpreter) || (kOneGil && current_thread_state() != nullptr);
}

bool enter_gate(const Interpreter& interpreter) noexcept {
  return Py_IsInitialized() && !is_finalizing() && interpreter.gate().enter();
}

GilScope::GilScope(const Interpreter& interpreter) noexcept {
  // A thread that holds the GIL already may continue, also while the interpreter ends.
  if (holds_gil(interpreter)) {
    held_ = true;
    return;
  }
  former_ = current_thread_state();
  if (!enter_gate(interpreter)) return;
  gate_ = &interpreter.gate();
  held_ = true;
  const bool is_main = interpreter.state() == PyInterpreterState_Main();
  // If all interpreters share one GIL, take it before making a state in a sub-interpreter. CPython
  // 3.11 ends a sub-interpreter with its youngest state, even when another thread waits for the GIL
  // with that state.
  if (former_ == nullptr && (is_main || kOneGil)) {
    ensured_ = true;
    gil_ = unless_killed([] { return PyGILState_Ensure(); });
    if (is_main) return;
    former_ = PyGILState_GetThisThreadState();
  }
  // Debug CPython requires one thread state for each thread and interpreter. The usual state
  // belongs to this interpreter when the thread went from here into a sub-interpreter.
  entered_ = PyGILState_GetThisThreadState();
  if (entered_ == nullptr || entered_->interp != interpreter.state()) {
    entered_ = own_ = PyThreadState_New(interpreter.state());
  }
  // A swap keeps a GIL that both interpreters share, so no other thread runs in between.
  if (former_ != nullptr) {
    PyThreadState_Swap(entered_);
  } else {
    unless_killed([&] { PyEval_RestoreThread(entered_); });
  }
}

GilScope::~GilScope() {
  if (own_ != nullptr) PyThreadState_Clear(own_);
  if (former_ != nullptr && entered_ != nullptr) {
    PyThreadState_Swap(former_);
    if (own_ != nullptr) PyThreadState_Delete(own_);
  } else if (own_ != nullptr) {
    PyThreadState_DeleteCurrent();
  } else if (entered_ != nullptr) {
    PyEval_SaveThread();
  }
  if (ensured_) PyGILState_Release(gil_);
  // After the thread state is deleted: an interpreter must not end with one of our states in it.
  if (gate_ != nullptr) gate_->leave();
}

}  // namespace slotcore::python
