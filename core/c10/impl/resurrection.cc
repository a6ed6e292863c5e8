// The resurrection protocol on the side of the counts.
//
// Note [Handing over]
// When the last C++ owner of an impl in state B (Note [Owner of the wrapper]) releases it, it does
// not destroy the impl. It gives its strong reference to the wrapper, which owns the impl from then
// on (state A), and releases the slot's reference to the wrapper. If that was the wrapper's last
// reference, the wrapper dies like any other: `__del__` sees a living impl, and runs when both
// sides are gone (P3). If Python reached the wrapper through a weakref meanwhile, the wrapper stays
// intact (P4). The count never goes 0 -> 1, so expired() is monotone. This code reads the owns bit
// without the GIL when the count is 1, and PyInterpreterVTable::hand_over reads it again under the
// GIL. If the interpreter has ended, the impl is destroyed and the wrapper is leaked on purpose
// (T6).

#include "core/c10/check.h"
#include "core/c10/impl/preservation.h"

namespace slotcore {
namespace {

using impl::preservation::Access;

// This protocol never sets the bit of the counts, so no count ever needs the wrapper.
struct NoWrapper {
  void decref() const noexcept { SLOTCORE_CHECK(false); }
  bool try_incref() const noexcept { SLOTCORE_CHECK(false); }
};

// Releases the caller's reference. True when the target has expired as a result.
bool drop(intrusive_ptr_target* target) noexcept {
  while (!Access::count(target).decref_unless_last()) {
    if (Access::count(target).expire_if_unique()) return true;
  }
  return false;
}

bool owns_wrapper(intrusive_ptr_target* target) noexcept {
  impl::PyObjectSlot* slot = target->pyobj_slot();
  return slot != nullptr && slot->owns_pyobj();
}

}  // namespace

namespace raw {

void incref(intrusive_ptr_target* target) noexcept {
  bool has_wrapper = Access::count(target).incref();
  SLOTCORE_CHECK(!has_wrapper);
}

void decref(intrusive_ptr_target* target) noexcept {
  while (!Access::count(target).decref_unless_last()) {
    if (owns_wrapper(target) || Access::count(target).expire_if_unique())
      return Access::submit(target);
    // Another thread locked a weak reference in between: read the count again.
  }
}

bool try_lock(intrusive_ptr_target* target) noexcept {
  return Access::count(target).lock(NoWrapper{});
}

}  // namespace raw

namespace impl::preservation {
namespace {

// Gives the reference that came with `target` to its wrapper, or releases it. True when the release
// took the count to 0 and the caller must destroy the target.
bool hand_over(intrusive_ptr_target* target) noexcept {
  while (!Access::count(target).decref_unless_last()) {
    if (owns_wrapper(target)) {
      PyObjectSlot* slot = target->pyobj_slot();
      switch ((*slot->pyobj_interpreter())->hand_over(target, slot)) {
        case HandOver::kDone:
        case HandOver::kDeferred: return false;
        case HandOver::kNotOwned: continue;
        case HandOver::kDisarmed: return drop(target);
      }
    }
    if (Access::count(target).expire_if_unique()) return true;
  }
  return false;
}

}  // namespace

void settle(intrusive_ptr_target* target) noexcept {
  if (raw::use_count(target) == 0 || hand_over(target)) Access::destroy(target);
}

}  // namespace impl::preservation
}  // namespace slotcore
