// The vtable pointer of a PyInterpreter as a protocol. When the interpreter ends, it is replaced by
// a pointer to a vtable that does nothing, while destructors on other threads may be calling
// through it (T5).
//
// A caller that read the armed vtable takes the GIL and reads again before it touches an object.
// Under the GIL the answer stays valid, because the thread that disarms holds that GIL.
#pragma once

#include <atomic>

#include "core/c10/impl/protocol/std_policy.h"

namespace slotcore::impl::protocol {

template <class P, class VTable>
class VTableWord {
 public:
  explicit VTableWord(VTable* vtable) noexcept : vtable_(vtable) {}

  // Acquire: pairs with disarm, so that this thread can read the vtable that disarm stored.
  VTable* load() const noexcept { return vtable_.load(std::memory_order_acquire); }
  // For a holder of the interpreter's GIL. Relaxed: the GIL orders.
  VTable* load_under_gil() const noexcept { return vtable_.load(std::memory_order_relaxed); }
  // Release: publishes the object behind `disarmed`.
  void disarm(VTable* disarmed) noexcept { vtable_.store(disarmed, std::memory_order_release); }

 private:
  typename P::template atomic<VTable*> vtable_;
};

}  // namespace slotcore::impl::protocol
