// The queue of a device, which several backwards share (A5d).
#include "harness/interleave/command/entry.h"
#include "harness/interleave/scenarios/scenario_ready_queue.h"

SLOTFUZZ_PROTOCOL_TARGET(ReadyQueueScenario)
