// Replaces addresses in printed runs, because they differ from run to run.
#pragma once

#include <vector>

#include "harness/interleave/explore/explore.h"

namespace slotfuzz::interleave {

// Numbers the addresses in the rows' values in the order in which they appear: #1, #2. An address
// with the slot's owns bit gets the same number and the word "owned".
void number_addresses(std::vector<TraceRow>* rows);

}  // namespace slotfuzz::interleave
