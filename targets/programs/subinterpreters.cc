// Storages and tensors of several interpreters of one process: claims, what the losers get, and the
// end of an interpreter that still owns wrappers. A target of its own, since an interpreter takes
// some ten milliseconds to start and end: among the ops of `storage` it would cost that target most
// of its speed, or be drawn so seldom that nothing would come of it.
#include "harness/engine/serve/entry.h"

SLOTFUZZ_TARGET("subinterpreters", nullptr, {.storage = 1, .interpreter = 1})
