// Owners in C++ that let go on threads without the GIL, under locks, and while the program goes on.
// A target of its own: to start a thread costs as much as to run a whole program of `storage`.
#include "harness/engine/serve/entry.h"

SLOTFUZZ_TARGET("threads", nullptr, {.storage = 1, .thread = 1})
