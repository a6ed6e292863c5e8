// Reads memory of the subject that may be freed.
//
// These reads are not instrumented. When the contract is broken the memory may be freed, and the
// judge must go on until the program itself shows the bug. A read that is inlined into an
// instrumented function would be instrumented.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slotfuzz {

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOTFUZZ_PEEK \
  __attribute__((no_sanitize("address", "thread", "undefined"), noinline)) inline
#else
#define SLOTFUZZ_PEEK inline
#endif

template <typename T>
SLOTFUZZ_PEEK T peek(const void* object, std::size_t offset) {
  return *reinterpret_cast<const volatile T*>(static_cast<const char*>(object) + offset);
}

// The same for a count that C++ threads change concurrently; any value that it had will do.
SLOTFUZZ_PEEK std::uint32_t peek_count(const void* object, std::size_t offset) {
  const char* place = static_cast<const char*>(object) + offset;
  return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(place), __ATOMIC_RELAXED);
}

#undef SLOTFUZZ_PEEK

}  // namespace slotfuzz
