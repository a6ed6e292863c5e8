// The policy of engine E3: real atomics on real threads, with or without random yields.
#pragma once

#include <mutex>

#include "harness/interleave/compiled/real_policy.h"
#include "harness/interleave/compiled/threads_run.h"
#include "harness/interleave/model/model_clock.h"

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

  // Not std::condition_variable, which cannot say that a thread waits: when all threads wait, the
  // run must fail and not hang. Relaxed, all accesses: a notification orders nothing.
  class Condition {
   public:
    void wait(std::mutex& held) {
      before();
      const int me = ThreadsRun::thread();
      if (me < 0) return fail("", "a wait while no other thread runs");
      std::atomic<uint32_t>& waits = waits_[me];
      const bool is_spurious = ThreadsRun::is_spurious();
      if (!is_spurious) waits.store(kWaits, std::memory_order_relaxed);
      held.unlock();
      if (!is_spurious) {
        ThreadsRun::begin_wait();
        for (uint32_t now; (now = waits.load(std::memory_order_relaxed)) != kRuns;) {
          waits.wait(now, std::memory_order_relaxed);
        }
      }
      held.lock();
    }
    void notify_one() {
      before();
      const uint32_t first = next_.fetch_add(1, std::memory_order_relaxed);
      for (uint32_t i = 0; i < kThreadsMax; ++i) {
        if (wake((first + i) % kThreadsMax)) return;
      }
    }
    void notify_all() {
      before();
      for (uint32_t i = 0; i < kThreadsMax; ++i) wake(i);
    }

   private:
    static constexpr uint32_t kRuns = 0, kWaits = 1, kIsChosen = 2;

    // The thread goes on only after it is counted: if it ended before, the run would seem to have
    // no thread that can run.
    bool wake(uint32_t thread) {
      uint32_t waits = kWaits;
      if (!waits_[thread].compare_exchange_strong(waits, kIsChosen, std::memory_order_relaxed,
                                                  std::memory_order_relaxed)) {
        return false;
      }
      ThreadsRun::end_wait();
      waits_[thread].store(kRuns, std::memory_order_relaxed);
      waits_[thread].notify_one();
      return true;
    }

    std::atomic<uint32_t> waits_[kThreadsMax]{};
    std::atomic<uint32_t> next_{0};
  };
};

using ThreadsPolicy = RealPolicy<ThreadPoints>;

}  // namespace slotfuzz::interleave
