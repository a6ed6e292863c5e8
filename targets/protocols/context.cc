// Threads ask the ctx of a custom Function for its node while the node's last owner drops it (A1b).
#include "harness/interleave/command/entry.h"
#include "harness/interleave/scenarios/scenario_context.h"

SLOTFUZZ_PROTOCOL_TARGET(ContextScenario)
