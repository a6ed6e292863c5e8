// Each thread has a stack of scopes in which it has given up the GIL.

#include "core/python/preserve/released_gil.h"

#include <utility>

#include "core/c10/check.h"
#include "core/python/runtime/killed_thread.h"

namespace slotcore::python {
namespace {
constinit thread_local ReleasedGil* innermost = nullptr;
}

ReleasedGil::ReleasedGil() noexcept
    : interpreter_(PyInterpreterState_Get()), outer_(innermost) {
  state_ = PyEval_SaveThread();
  innermost = this;
}

ReleasedGil::~ReleasedGil() {
  innermost = outer_;
  unless_killed([&] { PyEval_RestoreThread(state_); });
}

bool is_inside(const Interpreter& interpreter) noexcept {
  const bool is_given_up = innermost != nullptr && innermost->state_ != nullptr;
  return is_given_up ? innermost->interpreter_ == interpreter.state() : holds_gil(interpreter);
}

TakenGil::TakenGil(const Interpreter& interpreter) noexcept {
  if (innermost != nullptr && innermost->state_ != nullptr &&
      innermost->interpreter_ == interpreter.state()) {
    released_ = innermost;
    PyThreadState* given_up = std::exchange(released_->state_, nullptr);
    unless_killed([&] { PyEval_RestoreThread(given_up); });
    return;
  }
  SLOTCORE_CHECK(!holds_gil(interpreter));
  entered_.emplace(interpreter);
}

TakenGil::~TakenGil() {
  if (released_ != nullptr) released_->state_ = PyEval_SaveThread();
}

}  // namespace slotcore::python
