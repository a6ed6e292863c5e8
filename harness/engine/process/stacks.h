// Where the other threads of the process stand, and what each waits for; from inside, and without
// their help: a thread that hangs is interrupted by a signal and leaves its stack.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace slotfuzz {

struct ThreadStack {
  pid_t id = 0;
  // As CPython prints it.
  std::uintptr_t handle = 0;
  bool is_main = false;
  // Innermost first, each as a sanitizer prints it behind its number.
  std::vector<std::string> frames;
  // In words, such as "the GIL"; empty if the thread runs.
  std::string waits_for;
};

// Of all threads but the caller, and but those of the fuzzer and of a sanitizer, which block every
// signal. Those that do not answer in time have no frames. Installs a signal handler.
std::vector<ThreadStack> stacks_of_other_threads();

// Whether this build has a sanitizer, which reports signals and names functions itself.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOTFUZZ_SANITIZER
inline constexpr bool kHasSanitizer = true;
#endif
#endif
#ifndef SLOTFUZZ_SANITIZER
inline constexpr bool kHasSanitizer = false;
#endif

// From now on AddressSanitizer keeps so many frames of each allocation, which the variable
// ASAN_OPTIONS can only set for a whole process. Does nothing in a build without it.
void keep_allocation_frames(unsigned count);

// The function at `address`, as a sanitizer prints it; several where one was inlined into another.
std::vector<std::string> frames_at(const void* address);

}  // namespace slotfuzz
