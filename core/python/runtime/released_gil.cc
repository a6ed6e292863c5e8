// Each thread has a stack of scopes in which it has given up the GIL.

#include "core/python/runtime/released_gil.h"

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

TakenGil::TakenGil() noexcept : released_(innermost) {
  SLOTCORE_CHECK(released_ != nullptr && released_->state_ != nullptr);
  PyEval_RestoreThread(std::exchange(released_->state_, nullptr));
}

TakenGil::~TakenGil() { released_->state_ = PyEval_SaveThread(); }

}  // namespace slotcore::python
