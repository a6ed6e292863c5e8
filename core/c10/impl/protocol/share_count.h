// How many storages share one block of data: storages of two interpreters over the same bytes (T2),
// or a slice of a storage. The thread that drops the last share deletes the data.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/c10/impl/protocol/std_policy.h"

namespace slotcore::impl::protocol {

template <class P>
class ShareCount {
 public:
  // The caller has a share already.
  void add() noexcept {
    // Relaxed: the caller's own share keeps the data alive.
    shares_.fetch_add(1, std::memory_order_relaxed);
  }
  // True when this was the last share; then the caller deletes the data.
  [[nodiscard]] bool drop() noexcept {
    // One atomic operation decides: with a decrement and a second load, two threads could both see
    // 0. Release: this thread's writes to the bytes happen before their deletion. Acquire: this
    // thread sees the writes of the others.
    return shares_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  // The shares of the caller and of others.
  size_t number() const noexcept {
    // Relaxed: the caller touches nothing that others have written.
    return shares_.load(std::memory_order_relaxed);
  }

 private:
  typename P::template atomic<size_t> shares_{1};
};

}  // namespace slotcore::impl::protocol
