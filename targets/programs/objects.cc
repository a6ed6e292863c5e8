// All kinds of ops: storages, tensors, graphs, C++ threads and other interpreters. Ops that start a
// thread or an interpreter are slow, so they are drawn less often; otherwise they would take most
// of a hunt's time.
#include "harness/engine/serve/entry.h"

SLOTFUZZ_TARGET("objects", nullptr,
                {.storage = 64, .tensor = 128, .thread = 4, .interpreter = 1, .autograd = 16})
