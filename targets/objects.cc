// Everything at once: storages, tensors, threads of C++, other interpreters. What costs more is
// drawn less often, or most of a hunt would go into starting threads and interpreters.
#include "harness/engine/entry.h"

SLOTFUZZ_TARGET("objects", nullptr, {.storage = 32, .tensor = 64, .thread = 2, .interpreter = 1})
