// The policy of engine E3: real atomics on real threads, with or without random yields.
#pragma once

#include <mutex>

#include "harness/interleave/compiled/real_policy.h"
#include "harness/interleave/compiled/threads_run.h"

namespace slotfuzz::interleave {

struct ThreadPoints {
  static void before() { ThreadsRun::maybe_yield(); }
  static void after(const char*, const void*, uint64_t) {}
  static void begin_line(int) {}
  static void fail(const char* contract, const char* what) {
    ThreadsRun::fail_here(contract, what);
  }
  static void name(const void*, const char*) {}
  static void made(void*) { ThreadsRun::count_here(1); }
  // This does not record which objects are alive: a list that threads share would order them.
  // AddressSanitizer and ThreadSanitizer both detect a double free.
  static bool unmake(void*) {
    ThreadsRun::count_here(-1);
    return true;
  }

  using Mutex = std::mutex;
};

using ThreadsPolicy = RealPolicy<ThreadPoints>;

}  // namespace slotfuzz::interleave
