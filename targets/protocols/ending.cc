// An interpreter ends while other threads release references to its objects (T6).
#include "harness/interleave/command/entry.h"
#include "harness/interleave/scenarios/scenario_ending.h"

SLOTFUZZ_PROTOCOL_TARGET(EndingScenario)
