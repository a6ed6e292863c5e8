// Announcements: each operation calls announce() before it reads or changes anything, and each
// factory asks for the place of what it makes, so that the modes of this thread have their say. On
// a thread that is traced, both raise outside of operation() (operation.h): what has no name there
// cannot be recorded.
#pragma once

#include <initializer_list>

#include "core/c10/place.h"

namespace slotcore {

class TensorImpl;

// Throws runtime_error if this thread is in a mode and a tensor is not a fake of the innermost one,
// and UntraceableError.
void announce(std::initializer_list<const TensorImpl*> operands);
// Throws runtime_error if a fake would meet a real tensor, or a fake of another mode.
void check_same_mode(const TensorImpl& a, const TensorImpl& b);
// Where a factory makes a tensor that is to be on `device`. Throws UntraceableError.
Place place_of_new(Device device);

}  // namespace slotcore
