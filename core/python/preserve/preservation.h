// The two protocols that keep a wrapper alive, on the side of the wrapper. Each is one file, and a
// build links one of them, with its counterpart of core/c10/impl/preservation.h:
//
//   preserve_refcount_bit.cc   the impl holds a reference to the wrapper while it has C++ owners
//   preserve_resurrection.cc   tp_dealloc resurrects the wrapper when the impl has C++ owners
//
// wrapper.cc has the code that they share, and calls these functions. All need the GIL.
#pragma once

#include "core/python/preserve/wrapper.h"

namespace slotcore::python::preserve {

// Returns the wrapper in the slot as a new reference; takes the caller's reference to `target`.
PyObject* reuse(PyObject* object, intrusive_ptr_target* target) noexcept;

// Called when a new wrapper is in the slot and has taken over the caller's reference to `target`.
void adopt(PyObject* object, intrusive_ptr_target* target) noexcept;

// Called when the last reference to the wrapper is gone. If the impl has other owners, lets the
// wrapper survive and returns true.
bool try_preserve(Wrapper* self) noexcept;

// Takes the impl's strong count to 0 and clears the slot. False when the impl has another owner.
bool expire(Wrapper* self) noexcept;

// Called in the first pass of the collector. True when the collector must not subtract the
// wrapper's references, because C++ keeps the wrapper alive and the collector cannot know that
// (P2). See Note [Two passes of the collector].
bool is_hidden(Wrapper* self) noexcept;

// Whether a C++ owner keeps the wrapper alive although the collector found it in a dead cycle.
bool refuses_clear(const Wrapper* self) noexcept;

// Whether a wrapper that outlives its interpreter keeps its impl for ever.
bool keeps_impl_after_the_end() noexcept;

// The protocols ignore a wrapper that was made in hermetic mode or has no impl.
inline bool is_governed(const Wrapper* self) noexcept {
  return has_reachable_impl(self) && !self->dying && !self->hermetic;
}

}  // namespace slotcore::python::preserve
