// TorchDispatchModeTLS: the modes that a thread has entered, innermost last. A mode sees what
// operations do; FakeMode of core/meta is one.
#pragma once

#include <cstddef>
#include <functional>

#include "core/c10/intrusive_ptr.h"

namespace slotcore {

class TensorImpl;
struct OpCall;

namespace impl {

class TorchDispatchMode : public intrusive_ptr_target {
 public:
  // The result of an operation on a thread whose innermost mode this is: what `run` gives, or what
  // it gave before.
  virtual intrusive_ptr<TensorImpl> result_of(
      const OpCall& call, const std::function<intrusive_ptr<TensorImpl>()>& run) = 0;
};

using ModePtr = intrusive_ptr<TorchDispatchMode>;

// The stack of this thread. It owns the modes.
class TorchDispatchModeTLS {
 public:
  static void push(ModePtr mode);
  // The innermost mode, which the thread leaves; null if it is in none.
  [[nodiscard]] static ModePtr pop() noexcept;
  // Borrowed; null if the thread is in none.
  static TorchDispatchMode* innermost() noexcept;
  static size_t size() noexcept;
};

}  // namespace impl
}  // namespace slotcore
