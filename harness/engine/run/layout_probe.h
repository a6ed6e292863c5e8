// Finding where a subject keeps what layout.h reads: in a child, by the Python of each kind's row.
#pragma once

#include <span>

#include "harness/engine/run/layout.h"

namespace slotfuzz {

// Fills in `at` of each kind, as far as it is found. A subject that dies in this cannot be looked
// at; its programs tell of it.
void probe_places(const Interpreter& interpreter, std::span<ImplKind> kinds);

}  // namespace slotfuzz
