// Storages and the tensors that own them: wrapping, preservation, hermetic mode, weak references.
#include "harness/engine/serve/entry.h"

SLOTFUZZ_TARGET("storage", nullptr)
