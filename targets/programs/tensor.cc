// Tensors as first-class objects: subclasses, views and their bases, in-place operations, hooks,
// copies; with all of the vocabulary of `storage` beside them, since the worst bugs need both.
#include "harness/engine/serve/entry.h"

SLOTFUZZ_TARGET("tensor", nullptr, {.storage = 1, .tensor = 2})
