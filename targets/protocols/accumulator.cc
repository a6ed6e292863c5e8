// Threads look up the AccumulateGrad of a leaf, which is made when nobody owns one (A1c).
#include "harness/interleave/command/entry.h"
#include "harness/interleave/scenarios/scenario_accumulator.h"

SLOTFUZZ_PROTOCOL_TARGET(AccumulatorScenario)
