// Everything at once: storages, tensors and threads of C++. Threads cost more and are drawn less
// often, or most of a hunt would go into starting them. Other interpreters are left out for now:
// beside threads that lock, CPython 3.11 sometimes crashes as it ends one, for a reason not known.
#include "harness/engine/entry.h"

SLOTFUZZ_TARGET("objects", nullptr, {.storage = 32, .tensor = 64, .thread = 2})
