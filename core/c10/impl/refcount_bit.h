// The functions of the refcount-bit protocol that its Python side calls.
#pragma once

#include "core/c10/intrusive_ptr.h"

namespace slotcore::impl::preservation {

// Records that the wrapper in the slot has taken over one strong reference from the caller, and
// keeps it for life. Sets the bit, and takes a reference to the wrapper if there are other owners.
// Called once for each target, under the GIL of the tagged interpreter.
void adopt_wrapper(intrusive_ptr_target* target) noexcept;

}  // namespace slotcore::impl::preservation
