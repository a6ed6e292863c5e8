// Everything at once: storages, tensors, threads of C++ and other interpreters. What starts a
// thread or an interpreter costs more and is drawn less often, or most of a hunt would go into it.
#include "harness/engine/serve/entry.h"

SLOTFUZZ_TARGET("objects", nullptr, {.storage = 64, .tensor = 128, .thread = 4, .interpreter = 1})
