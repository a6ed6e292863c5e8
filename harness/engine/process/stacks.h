// Stacks of the other threads of this process, and what each thread waits for. A signal interrupts
// each thread, and its handler captures the stack, so that a hanging thread is captured too.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slotfuzz {

// What a thread waits for; kNothing: it runs.
enum class Wait : std::uint8_t {
  kNothing, kGil, kPythonLock, kMutex, kLock, kCondition, kThread, kSemaphore, kFutex
};
// As a reply has it: `gil`; empty for kNothing.
std::string_view word_of(Wait wait);
// For people: `the GIL`.
std::string_view sentence_of(Wait wait);
// `waits for the GIL`, or `runs`.
std::string activity_of(Wait wait);

struct ThreadStack {
  pid_t id = 0;
  // The thread's identifier as CPython prints it.
  std::uintptr_t handle = 0;
  bool is_main = false;
  // Innermost first, each formatted as a sanitizer formats it after the frame number.
  std::vector<std::string> frames;
  Wait waits_for = Wait::kNothing;
};

// `main thread`, or `thread 2` for the stack with that number in the list.
std::string name_of(const ThreadStack& stack, std::size_t number);

// The stacks of all threads except the caller and threads that block every signal, which belong to
// libFuzzer or a sanitizer. A thread that does not answer in time has no frames. Installs a signal
// handler.
std::vector<ThreadStack> stacks_of_other_threads();

// Whether this build has a sanitizer, which reports signals and symbolises functions itself.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOTFUZZ_SANITIZER
inline constexpr bool kHasSanitizer = true;
#endif
#endif
#ifndef SLOTFUZZ_SANITIZER
inline constexpr bool kHasSanitizer = false;
#endif

// Sets how many frames AddressSanitizer keeps of each later allocation; the variable ASAN_OPTIONS
// can only set that for a whole process. Does nothing in a build without ASan.
void keep_allocation_frames(unsigned count);

// The function at `address`, formatted as a sanitizer formats it; several if some were inlined.
std::vector<std::string> frames_at(const void* address);

}  // namespace slotfuzz
