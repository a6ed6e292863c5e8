// How many storages share one block of data: storages of two interpreters over the same bytes (T2),
// or a slice of a storage. The last one deletes the data, on whichever thread that is.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/c10/impl/protocol/std_policy.h"

namespace slotcore::impl::protocol {

template <class P>
class ShareCount {
 public:
  // The caller has a share.
  void add() noexcept {
    // Relaxed: the caller's own share keeps the data alive.
    shares_.fetch_add(1, std::memory_order_relaxed);
  }
  // True when it was the last share and the data is the caller's to delete.
  [[nodiscard]] bool drop() noexcept {
    // One operation, whose result decides: a decrement and a second look would let two threads
    // both see 0. Release: my writes to the bytes come before their deletion; acquire: I see
    // theirs.
    return shares_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

 private:
  typename P::template atomic<size_t> shares_{1};
};

}  // namespace slotcore::impl::protocol
