// How C++ code on any thread enters a Python interpreter, and how it is refused when that has ended
// (T6).
#pragma once

#include "core/python/preserve/interpreter.h"

namespace slotcore::python {

bool holds_gil(const Interpreter& interpreter) noexcept;
// Whether this thread can enter without waiting for another thread.
bool enters_without_waiting(const Interpreter& interpreter) noexcept;
// Passes the shutdown gate; false when the interpreter is ending. Otherwise gate().leave() must
// follow.
[[nodiscard]] bool enter_gate(const Interpreter& interpreter) noexcept;

// Holds the GIL of one interpreter during its lifetime, or reports that the interpreter is ending.
class GilScope {
 public:
  explicit GilScope(const Interpreter& interpreter) noexcept;
  ~GilScope();
  GilScope(const GilScope&) = delete;
  GilScope& operator=(const GilScope&) = delete;

  bool held() const noexcept { return held_; }

 private:
  PyThreadState* former_ = nullptr;
  PyThreadState* entered_ = nullptr;
  PyThreadState* own_ = nullptr;  // entered_, if this object made it
  ShutdownGate* gate_ = nullptr;
  PyGILState_STATE gil_ = PyGILState_UNLOCKED;
  bool ensured_ = false;
  bool held_ = false;
};

}  // namespace slotcore::python
