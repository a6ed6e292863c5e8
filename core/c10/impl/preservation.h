// What keeps a wrapper alive while its impl lives, as seen from the counts. Two protocols implement
// these functions, each in one file, and a build links one of them:
//
//   refcount_bit.cc   a bit in the counts says that there is a wrapper, which is an owner for life;
//                     Note [The wrapper's bit] in protocol/combined_count.h. PyTorch 2.10 and later
//   resurrection.cc   wrapper and impl take turns in owning each other; Note [Handing over] there.
//                     PyTorch 1.9 to 2.9
//
// Each has a counterpart for Python's side in core/python. raw::incref, raw::decref and
// raw::try_lock of intrusive_ptr.h belong to them too.
#pragma once

#include "core/c10/intrusive_ptr.h"

namespace slotcore::impl::preservation {

// A target that was submitted, at its turn: destroys it, or does what else the protocol wants.
void settle(intrusive_ptr_target* target) noexcept;

// What a protocol may do with a target.
struct Access {
  static auto& count(intrusive_ptr_target* target) noexcept { return target->count_; }
  static const auto& count(const intrusive_ptr_target* target) noexcept { return target->count_; }
  // Settles the target now, or leaves it to the outermost release of this thread; see
  // Note [Releases do not recurse]. A target may be submitted once at a time.
  static void submit(intrusive_ptr_target* target) noexcept;
  // For a target that has expired. The weak reference of the strong owners is given up only after
  // release_resources: until then nobody else's last weak reference may free the memory.
  static void destroy(intrusive_ptr_target* target) noexcept {
    target->release_resources();
    raw::weak_decref(target);
  }
  static void free(intrusive_ptr_target* target) noexcept { delete target; }
};

}  // namespace slotcore::impl::preservation
