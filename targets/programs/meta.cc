// Tensors on meta, descriptions and fakes, over the storages and tensors that they are made of.
#include "harness/engine/serve/entry.h"

SLOTFUZZ_TARGET("meta", nullptr, {.storage = 1, .tensor = 1, .meta = 2})
