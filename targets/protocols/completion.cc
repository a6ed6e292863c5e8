// The owner of a backward waits for all its tasks, and frees it (A5c).
#include "harness/interleave/command/entry.h"
#include "harness/interleave/scenarios/scenario_completion.h"

SLOTFUZZ_PROTOCOL_TARGET(CompletionScenario)
