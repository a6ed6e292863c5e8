// An object that is made when it is needed and shared while anyone owns it: the AccumulateGrad of a
// leaf (A1c). The leaf knows it by a weak pointer, which a mutex guards.
//
// `Weak` is a weak pointer: lock() gives a strong one or null, and two that are equal refer to one
// object, dead or alive.
#pragma once

#include <mutex>
#include <utility>

#include "core/c10/impl/protocol/std_policy.h"

namespace slotcore::impl::protocol {

// What keeps each object that lives.
struct IsAlwaysCurrent {
  bool operator()(const auto&) const noexcept { return true; }
};

// The object that `known` refers to if it is current, or the one that `make()` returns, which
// `known` refers to from then on. Of several threads that make one, all get the first that is
// known. No pointer is locked or dropped under the mutex, since both may wait for the GIL.
template <class P, class Weak, class Make, class IsCurrent = IsAlwaysCurrent>
auto lock_or_create(typename P::mutex& mutex, Weak& known, const Make& make,
                    const IsCurrent& is_current = {}) -> decltype(known.lock()) {
  decltype(known.lock()) made{};
  for (;;) {
    mutex.lock();
    Weak former(known);
    mutex.unlock();
    if (auto found = former.lock(); found && is_current(found)) return found;
    if (!made) made = make();
    Weak next(made);  // dropped after the lock, with what `known` referred to
    std::lock_guard lock(mutex);
    // Else another thread has made one meanwhile. The weak reference keeps the address of the
    // former object from being used again.
    if (known == former) {
      std::swap(known, next);
      return made;
    }
  }
}

}  // namespace slotcore::impl::protocol
