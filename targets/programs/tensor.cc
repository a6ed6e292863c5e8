// Tensors as first-class objects: subclasses, views and their bases, in-place operations, hooks,
// copies. The target also has all ops of `storage`, because the most severe bugs need both.
#include "harness/engine/serve/entry.h"

SLOTFUZZ_TARGET("tensor", nullptr, {.storage = 1, .tensor = 2})
