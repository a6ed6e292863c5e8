// Code that runs without the GIL, and calls back into Python in between: the engine of autograd.
#pragma once

#include <optional>
#include <stdexcept>

#include "core/python/preserve/gil_scope.h"
#include "core/python/preserve/python_error.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

// Gives up the GIL for a scope.
class ReleasedGil {
 public:
  ReleasedGil() noexcept;
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  friend class TakenGil;
  friend bool is_inside(const Interpreter& interpreter) noexcept;
  // The end of the interpreter may free the thread state of a thread that has given up the GIL, so
  // nothing here reads it.
  PyInterpreterState* const interpreter_;
  PyThreadState* state_;  // null while a TakenGil has it
  ReleasedGil* outer_;
};

// Takes the GIL for a scope: with the thread state of the innermost ReleasedGil, or on a thread of
// the engine with a new one. A thread that has not given up the GIL fails a CHECK: it would wait
// for threads that wait for its GIL.
class TakenGil {
 public:
  explicit TakenGil(const Interpreter& interpreter) noexcept;
  ~TakenGil();
  TakenGil(const TakenGil&) = delete;
  TakenGil& operator=(const TakenGil&) = delete;

  // False when the interpreter has ended.
  bool held() const noexcept { return released_ != nullptr || entered_->held(); }

 private:
  ReleasedGil* released_ = nullptr;
  std::optional<GilScope> entered_;
};

// Whether this thread runs Python code of the interpreter, or has given up its GIL to run C++ code.
bool is_inside(const Interpreter& interpreter) noexcept;

// Runs `body` under the GIL. Throws PythonError for what it raises, and runtime_error when the
// interpreter has ended.
template <class Body>
auto with_taken_gil(const Interpreter& interpreter, Body body) {
  TakenGil gil(interpreter);
  if (!gil.held()) throw std::runtime_error("the Python interpreter has ended");
  try {
    return body();
  } catch (const PythonErrorSet&) {
    throw PythonError(interpreter);
  }
}

// The same on a thread that may hold the GIL already; then it throws PythonErrorSet.
template <class Body>
auto with_gil(const Interpreter& interpreter, Body body) {
  return holds_gil(interpreter) ? body() : with_taken_gil(interpreter, body);
}

}  // namespace slotcore::python
