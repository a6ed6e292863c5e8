// The headers of the installed libtorch, unmodified, with yields at their atomic accesses: while
// the compiler reads them, the word `atomic` means yielding_atomic. All standard headers that they
// include must be included before, because those mean std::atomic.
//
// The location of the slot depends on the release. SLOTFUZZ_C10_SLOT_IS_A_STRUCT: 2.1 and later,
// where storages have a slot as well; before, its fields are in TensorImpl.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cinttypes>
#include <complex>
#include <deque>
#include <functional>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <shared_mutex>
#include <sstream>
#include <string>
#include <tuple>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "targets/c10/yielding_atomic.h"

#define atomic yielding_atomic
#include <c10/core/CPUAllocator.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/Logging.h>
#undef atomic

// A logging library that c10 uses defines a macro of this name.
#undef CHECK

#if __has_include(<c10/core/impl/PyObjectSlot.h>)
#define SLOTFUZZ_C10_SLOT_IS_A_STRUCT 1
#else
#define SLOTFUZZ_C10_SLOT_IS_A_STRUCT 0
#endif
