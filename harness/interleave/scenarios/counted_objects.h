// The objects of the counts scenario: an impl with its resources, its wrapper, and shared data.
#pragma once

#include <cstdint>

#include "core/c10/impl/protocol/combined_count.h"
#include "core/c10/impl/protocol/share_count.h"
#include "core/c10/impl/protocol/slot.h"

namespace slotfuzz::interleave {

template <class P>
struct CountedObjects {
  using Number = typename P::template var<int>;

  struct Wrapper {
    // As in a Python without a GIL, where the count is atomic; here the GIL orders it anyway.
    typename P::template atomic<uint32_t> references{1};
    Number body{1};
  };
  struct Block {
    slotcore::impl::protocol::ShareCount<P> shares;  // the impl has one share
    Number data{1};
  };
  struct Impl {
    slotcore::impl::protocol::CombinedCount<P> count;
    slotcore::impl::protocol::PyObjectWord<P> slot;
    Number resources{1};
    Block* block = nullptr;
  };
};

}  // namespace slotfuzz::interleave
