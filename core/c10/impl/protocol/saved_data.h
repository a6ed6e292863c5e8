// What a node has saved for its backward. Backwards on several threads unpack it, and one of them
// releases it (A2a, A5b). A mutex of the node guards it.
//
// `Saved` is one saved value: release() moves out what it owns, and afterwards it is freed.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>

#include "core/c10/impl/protocol/std_policy.h"

namespace slotcore::impl::protocol {

template <class P, class Saved, size_t N>
class SavedData {
 public:
  using Owned = decltype(std::declval<Saved&>().release());

  explicit SavedData(typename P::mutex& mutex) noexcept : mutex_(mutex) {}

  // Number `i`, to be unpacked without the lock, as that may run code that looks at the node. A
  // thread that releases at the same time comes before, and then it is freed, or after.
  Saved copy(size_t i) const {
    std::lock_guard lock(mutex_);
    return saved_[i];
  }

  // What was saved, for the caller to drop: a drop may run code that looks at the node.
  [[nodiscard]] std::array<Owned, N> release() noexcept {
    std::array<Owned, N> released{};
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < N; i++) released[i] = saved_[i].release();
    return released;
  }

  // Without the lock: before other threads know the node, and when none uses it any more.
  std::array<Saved, N>& unguarded() noexcept { return saved_; }
  const std::array<Saved, N>& unguarded() const noexcept { return saved_; }

 private:
  typename P::mutex& mutex_;
  std::array<Saved, N> saved_;  // guarded by the mutex
};

}  // namespace slotcore::impl::protocol
