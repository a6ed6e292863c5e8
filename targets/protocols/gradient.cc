// Backwards on several threads add to one `.grad` while Python reads and takes it (A5b).
#include "harness/interleave/command/entry.h"
#include "harness/interleave/scenarios/scenario_gradient.h"

SLOTFUZZ_PROTOCOL_TARGET(GradientScenario)
