// The refcount-bit protocol on the side of the counts. C++ owners share one reference to the
// wrapper, taken when strong goes from 1 to 2 and released when strong goes from 2 to 1. See
// Note [The wrapper's bit] in protocol/combined_count.h.

#include "core/c10/impl/refcount_bit.h"

#include "core/c10/impl/preservation.h"
#include "core/c10/trace.h"

namespace slotcore {
namespace {

using impl::preservation::Access;

// Every call takes the GIL of the tagged interpreter. The wrapper's address is read before that:
// the caller's own strong reference, or the impl's reference to the wrapper, keeps the wrapper
// alive.
class SlotWrapper {
 public:
  explicit SlotWrapper(intrusive_ptr_target* target) noexcept : target_(target) {}

  void incref() const noexcept {
    trace("wrapper held", {"impl", target_}, {"wrapper", wrapper()});
    (*interpreter())->incref(wrapper());
  }
  bool decref() const noexcept {
    trace("wrapper released", {"impl", target_}, {"wrapper", wrapper()});
    return (*interpreter())->decref(wrapper());
  }
  bool try_incref() const noexcept {
    bool held = (*interpreter())->try_incref(slot());
    if (held) trace("wrapper held", {"impl", target_}, {"wrapper", wrapper()}, {"", "(locked)"});
    return held;
  }

 private:
  impl::PyObjectSlot* slot() const noexcept { return target_->pyobj_slot(); }
  PyObject* wrapper() const noexcept { return slot()->unchecked_pyobj(); }
  impl::PyInterpreter* interpreter() const noexcept { return slot()->pyobj_interpreter(); }

  intrusive_ptr_target* target_;
};

}  // namespace

namespace raw {

void incref(intrusive_ptr_target* target) noexcept {
  if (Access::count(target).incref()) [[unlikely]]
    SlotWrapper(target).incref();
}

void decref(intrusive_ptr_target* target) noexcept {
  using Left = decltype(Access::count(target).decref());
  Left left = Access::count(target).decref();
  // This may free the wrapper, and with it the target. When the interpreter has ended, the wrapper
  // is leaked (T6) and its strong reference has no owner. Nothing can increment the count again,
  // because a weak lock would need the wrapper.
  if (left == Left::kWrapper && !SlotWrapper(target).decref())
    left = Access::count(target).decref();
  if (left == Left::kNobody) Access::submit(target);
}

bool try_lock(intrusive_ptr_target* target) noexcept {
  return Access::count(target).lock(SlotWrapper(target));
}

}  // namespace raw

namespace impl::preservation {

void settle(intrusive_ptr_target* target) noexcept { Access::destroy(target); }

void adopt_wrapper(intrusive_ptr_target* target) noexcept {
  Access::count(target).set_has_pyobject(SlotWrapper(target));
}

}  // namespace impl::preservation
}  // namespace slotcore
