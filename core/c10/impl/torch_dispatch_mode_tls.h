// TorchDispatchModeTLS: the modes that a thread has entered, innermost last. A mode sees what
// operations do; FakeMode of core/meta is one.
#pragma once

#include <cstddef>

#include "core/c10/intrusive_ptr.h"

namespace slotcore::impl {

class TorchDispatchMode : public intrusive_ptr_target {};

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

}  // namespace slotcore::impl
