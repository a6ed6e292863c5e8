// Each thread has a stack of scopes in which it has given up the GIL.

#include "core/python/preserve/released_gil.h"

#include <utility>

#include "core/c10/check.h"

namespace slotcore::python {
namespace {
constinit thread_local ReleasedGil* innermost = nullptr;
}

ReleasedGil::ReleasedGil() noexcept : outer_(innermost) {
  state_ = PyEval_SaveThread();
  innermost = this;
}

ReleasedGil::~ReleasedGil() {
  innermost = outer_;
  PyEval_RestoreThread(state_);
}

bool is_inside(const Interpreter& interpreter) noexcept {
  const PyThreadState* given_up = innermost == nullptr ? nullptr : innermost->state_;
  return given_up == nullptr ? holds_gil(interpreter) : given_up->interp == interpreter.state();
}

TakenGil::TakenGil(const Interpreter& interpreter) noexcept {
  PyThreadState* state = innermost == nullptr ? nullptr : innermost->state_;
  if (state != nullptr && state->interp == interpreter.state()) {
    released_ = innermost;
    PyEval_RestoreThread(std::exchange(released_->state_, nullptr));
    return;
  }
  SLOTCORE_CHECK(!holds_gil(interpreter));
  entered_.emplace(interpreter);
}

TakenGil::~TakenGil() {
  if (released_ != nullptr) released_->state_ = PyEval_SaveThread();
}

}  // namespace slotcore::python
