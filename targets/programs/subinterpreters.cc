// Storages and tensors of several interpreters of one process: claims, the errors of interpreters
// that lose, and the end of an interpreter that still owns wrappers. This is a separate target
// because an interpreter takes some ten milliseconds to start and end. Among the ops of `storage`
// it would cost that target most of its speed, or be drawn too rarely to find anything.
#include "harness/engine/serve/entry.h"

SLOTFUZZ_TARGET("subinterpreters", nullptr, {.storage = 1, .interpreter = 1})
