// Backwards on several threads unpack what a node has saved while one of them releases it (A2).
#include "harness/interleave/command/entry.h"
#include "harness/interleave/scenarios/scenario_saved.h"

SLOTFUZZ_PROTOCOL_TARGET(SavedScenario)
