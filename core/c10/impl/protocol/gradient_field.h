// The `.grad` of a leaf. Several backwards add to it, and Python reads and replaces it, all at the
// same time (A5b). `Pointer` is a strong pointer to a gradient.
#pragma once

#include <mutex>
#include <utility>

#include "core/c10/impl/protocol/std_policy.h"

namespace slotcore::impl::protocol {

template <class P, class Pointer>
class GradientField {
 public:
  Pointer get() const noexcept {
    std::lock_guard lock(mutex_);
    return pointer_;
  }
  // Returns the former gradient; the caller drops it where user code may run.
  [[nodiscard]] Pointer exchange(Pointer pointer) noexcept {
    std::lock_guard lock(mutex_);
    std::swap(pointer_, pointer);
    return pointer;
  }
  // Replaces `former`, which the caller owns; false if the gradient is another one by now. Drops
  // neither.
  [[nodiscard]] bool replace(const Pointer& former, const Pointer& pointer) noexcept {
    Pointer exchanged = pointer;  // dropped after the lock
    std::lock_guard lock(mutex_);
    if (!(pointer_ == former)) return false;
    std::swap(pointer_, exchanged);
    return true;
  }

  // Without the lock: for the collector, which has made sure that no other thread uses the field.
  const Pointer& unguarded() const noexcept { return pointer_; }
  Pointer& unguarded() noexcept { return pointer_; }

  // Adds a gradient. `sums` says how:
  //   is_in_place()           whether to write the gradient that is there
  //   add(former)             write it
  //   prepare(former)         what a new one needs, and what may run user code
  //   sum(former, prepared)   or make a new one, of the former, which may be null
  // `elements` guards the elements of gradients that are written. A new gradient is made and stored
  // under it too: it reads the former's elements, and replaces what is added to them meanwhile.
  template <class Sums>
  void accumulate(typename P::mutex& elements, Sums sums) {
    for (;;) {
      const Pointer former = get();  // dropped after the lock below, as are the next two
      const auto prepared = sums.prepare(former);
      Pointer made;
      std::lock_guard lock(elements);
      if (!(get() == former)) continue;
      if (former && sums.is_in_place()) return sums.add(former);
      made = sums.sum(former, prepared);
      if (replace(former, made)) return;
    }
  }

 private:
  mutable typename P::mutex mutex_;
  Pointer pointer_{};  // guarded by the mutex
};

}  // namespace slotcore::impl::protocol
