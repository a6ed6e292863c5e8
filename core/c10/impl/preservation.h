// How an impl keeps its wrapper alive, on the side of the reference counts. Two protocols implement
// these functions, each in one file, and a build links one of them:
//
//   refcount_bit.cc   a bit in the counts says that the impl has a wrapper, which owns the impl for
//                     its whole life; Note [The wrapper's bit] in protocol/combined_count.h.
//                     PyTorch 2.10 and later
//   resurrection.cc   wrapper and impl take turns in owning each other; Note [Handing over] there.
//                     PyTorch 1.9 to 2.9
//
// Each file has a counterpart in core/python for the Python side. Each also implements raw::incref,
// raw::decref and raw::try_lock of intrusive_ptr.h.
#pragma once

#include "core/c10/intrusive_ptr.h"

namespace slotcore::impl::preservation {

// Processes a submitted target when its turn comes: destroys it, or does what else the protocol
// needs.
void settle(intrusive_ptr_target* target) noexcept;

// The operations of intrusive_ptr_target that only a protocol may use.
struct Access {
  static auto& count(intrusive_ptr_target* target) noexcept { return target->count_; }
  static const auto& count(const intrusive_ptr_target* target) noexcept { return target->count_; }
  // Settles the target now, or leaves it to the outermost release of this thread; see
  // Note [Releases do not recurse]. A target is in at most one queue.
  static void submit(intrusive_ptr_target* target) noexcept;
  // Destroys a target that has expired. The weak reference of the strong owners is released only
  // after release_resources: until then no other last weak reference may free the memory.
  static void destroy(intrusive_ptr_target* target) noexcept {
    target->release_resources();
    raw::weak_decref(target);
  }
  static void release_owned(intrusive_ptr_target* target) noexcept { target->release_resources(); }
  static void free(intrusive_ptr_target* target) noexcept { delete target; }
};

}  // namespace slotcore::impl::preservation
