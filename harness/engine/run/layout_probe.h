// Finds the offsets of layout.h in a child, by the Python in each kind's row.
#pragma once

#include <span>

#include "harness/engine/run/layout.h"

namespace slotfuzz {

// Fills in `at` of each kind with the offsets that the probe finds. If the subject crashes in the
// probe, the offsets stay unknown; programs on it will show the crash.
void probe_places(const Interpreter& interpreter, std::span<ImplKind> kinds);

}  // namespace slotfuzz
