// Strong and weak counts, the wrapper's bit, and shares of data, on several threads.
#include "harness/interleave/command/entry.h"
#include "harness/interleave/scenarios/scenario_counts.h"

SLOTFUZZ_PROTOCOL_TARGET(CountsScenario)
