// The policy of engine E2: real atomics on fibres. A thread yields before each operation. It waits
// for a mutex in the scheduler, because a real mutex would block the only OS thread.
#pragma once

#include "harness/interleave/compiled/real_policy.h"
#include "harness/interleave/fibre/schedule.h"

namespace slotfuzz::interleave {

struct FibrePoints {
  static void before() { FibreScheduler::yield(); }
  static void after(const char* what, const void* location, uint64_t value) {
    FibreScheduler::tell(what, location, value);
  }
  static void begin_line(int line) { FibreScheduler::begin_line(line); }
  static void fail(const char* contract, const char* what) { FibreScheduler::stop(what, contract); }
  static void name(const void* location, const char* name) {
    FibreScheduler::here()->add_name(location, name);
  }
  static void made(void* object) { FibreScheduler::here()->made(object); }
  static bool unmake(void* object) { return FibreScheduler::here()->unmake(object); }

  class Mutex {
   public:
    void lock() {
      FibreScheduler::yield_until_zero(held_);
      held_.store(1, std::memory_order_relaxed);  // one fibre runs, and it saw 0
      // Acquire: pairs with unlock. A separate load, because a store cannot acquire.
      last_.load(std::memory_order_acquire);
      after("lock", this, 1);
    }
    void unlock() {
      FibreScheduler::yield();
      // Release: pairs with the next lock, which reads this number or a later one.
      last_.fetch_add(1, std::memory_order_release);
      held_.store(0, std::memory_order_relaxed);  // read by the scheduler only
      after("unlock", this, 0);
    }

   private:
    std::atomic<uint32_t> held_{0};
    std::atomic<uint32_t> last_{0};
  };
};

using FibresPolicy = RealPolicy<FibrePoints>;

}  // namespace slotfuzz::interleave
