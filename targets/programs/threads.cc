// C++ owners that release on threads without the GIL, under locks, and while the program continues.
// This is a separate target because starting a thread costs as much as a whole `storage` program.
#include "harness/engine/serve/entry.h"

SLOTFUZZ_TARGET("threads", nullptr, {.storage = 1, .thread = 1})
