// An interpreter that ends while destructors of its impls run (T5).
#include "harness/interleave/entry.h"
#include "harness/interleave/scenario_disarm.h"

SLOTFUZZ_PROTOCOL_TARGET(DisarmScenario)
