// The autograd graph: leaves, nodes, backwards and hooks, over the storages and tensors that it
// owns.
#include "harness/engine/serve/entry.h"

SLOTFUZZ_TARGET("autograd", nullptr, {.storage = 1, .tensor = 1, .autograd = 3})
