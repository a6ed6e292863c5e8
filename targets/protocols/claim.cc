// The tag of a slot claimed by several interpreters at once (T1 to T4).
#include "harness/interleave/command/entry.h"
#include "harness/interleave/scenarios/scenario_claim.h"

SLOTFUZZ_PROTOCOL_TARGET(ClaimScenario)
