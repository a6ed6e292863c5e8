// An interpreter ends while destructors of its impls run (T5).
#include "harness/interleave/command/entry.h"
#include "harness/interleave/scenarios/scenario_disarm.h"

SLOTFUZZ_PROTOCOL_TARGET(DisarmScenario)
