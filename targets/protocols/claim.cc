// Several interpreters claim the tag of one slot at the same time (T1 to T4).
#include "harness/interleave/command/entry.h"
#include "harness/interleave/scenarios/scenario_claim.h"

SLOTFUZZ_PROTOCOL_TARGET(ClaimScenario)
