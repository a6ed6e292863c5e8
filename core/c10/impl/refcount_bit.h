// What the refcount-bit protocol offers to Python's side of it.
#pragma once

#include "core/c10/intrusive_ptr.h"

namespace slotcore::impl::preservation {

// The wrapper in the slot has taken over one strong reference of the caller's, which it keeps for
// life. Sets the bit, and takes a reference of the wrapper if there are other owners. Once in a
// target's life, under the GIL of the tagged interpreter.
void adopt_wrapper(intrusive_ptr_target* target) noexcept;

}  // namespace slotcore::impl::preservation
