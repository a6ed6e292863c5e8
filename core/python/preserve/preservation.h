// The two protocols that keep a wrapper alive, as seen from the wrapper. Each is one file, and a
// build links one of them, with its counterpart of core/c10/impl/preservation.h:
//
//   preserve_refcount_bit.cc   the impl holds a reference of the wrapper while it has C++ owners
//   preserve_resurrection.cc   the wrapper is resurrected in tp_dealloc when the impl has C++
//   owners
//
// What they share is in wrapper.cc, which calls these functions. All need the GIL.
#pragma once

#include "core/python/preserve/wrapper.h"

namespace slotcore::python::preserve {

// The wrapper that the slot holds, as a new reference; takes the caller's reference of `target`.
PyObject* reuse(PyObject* object, intrusive_ptr_target* target) noexcept;

// A new wrapper stands in the slot and has taken over the caller's reference of `target`.
void adopt(PyObject* object, intrusive_ptr_target* target) noexcept;

// Asked when no reference to the wrapper is left: if the impl has other owners, makes the wrapper
// survive and says true.
bool try_preserve(Wrapper* self) noexcept;

// Takes the impl's strong count to 0 and clears the slot. False when the impl is shared after all.
bool expire(Wrapper* self) noexcept;

// Asked in the first pass of the collector: whether it must subtract none of the wrapper's
// references, because C++ keeps it alive and the collector cannot know (P2). See
// Note [Two passes of the collector].
bool is_hidden(Wrapper* self) noexcept;

// Whether a C++ owner keeps the wrapper alive although the collector found it in a dead cycle.
bool refuses_clear(const Wrapper* self) noexcept;

// Whether a wrapper that lives on when its interpreter has ended keeps its impl for ever.
bool keeps_impl_after_the_end() noexcept;

// A wrapper that was made in hermetic mode, or has no impl, is none of a protocol's business.
inline bool is_governed(const Wrapper* self) noexcept {
  return has_reachable_impl(self) && !self->dying && !self->hermetic;
}

}  // namespace slotcore::python::preserve
