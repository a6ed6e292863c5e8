// The policy of engine E2: real atomics on fibres. A thread yields before each operation. It waits
// for a mutex in the scheduler, because a real mutex would block the only OS thread.
#pragma once

#include <algorithm>

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
      held_.store(0, std::memory_order_relaxed);  // read by the scheduler only
      after("unlock", this, 0);
      // Release: pairs with the next lock, which reads this number or a later one. Last, because
      // the thread that locks next may free the mutex.
      last_.fetch_add(1, std::memory_order_release);
    }

   private:
    std::atomic<uint32_t> held_{0};
    std::atomic<uint32_t> last_{0};
  };

  // Relaxed, all accesses: one fibre runs at a time, and a notification orders nothing.
  class Condition {
   public:
    void wait(Mutex& held) {
      before();
      const int me = FibreScheduler::thread();
      if (me < 0) return fail("", "a wait while no other thread runs");
      if (was_spurious_[me].load(std::memory_order_relaxed) == 0 &&
          FibreScheduler::choice(2) == 1) {
        // Once for each thread, or a loop would never end.
        was_spurious_[me].store(1, std::memory_order_relaxed);
        after("wait, spurious", this, 0);
        held.unlock();
        return held.lock();
      }
      joined_[me].store(1 + last_.fetch_add(1, std::memory_order_relaxed),
                        std::memory_order_relaxed);
      after("wait", this, 0);
      held.unlock();
      FibreScheduler::yield_until_zero(joined_[me]);
      held.lock();
    }
    void notify_one() {
      before();
      int waiting[FibreScheduler::kFibresMax];
      const int count = find_waiting(waiting);
      after("notify_one", this, static_cast<uint64_t>(count));
      if (count > 0) wake(waiting[count == 1 ? 0 : FibreScheduler::choice(count)]);
    }
    void notify_all() {
      before();
      int waiting[FibreScheduler::kFibresMax];
      const int count = find_waiting(waiting);
      after("notify_all", this, static_cast<uint64_t>(count));
      for (int i = 0; i < count; ++i) wake(waiting[i]);
    }

   private:
    // The one that has waited longest first.
    int find_waiting(int* waiting) const {
      int count = 0;
      for (int i = 0; i < FibreScheduler::kFibresMax; ++i) {
        if (joined_[i].load(std::memory_order_relaxed) != 0) waiting[count++] = i;
      }
      std::sort(waiting, waiting + count, [this](int a, int b) {
        return joined_[a].load(std::memory_order_relaxed) <
               joined_[b].load(std::memory_order_relaxed);
      });
      return count;
    }
    void wake(int thread) { joined_[thread].store(0, std::memory_order_relaxed); }

    // For each thread a number while it waits, in the order in which they began; else 0.
    std::atomic<uint32_t> joined_[FibreScheduler::kFibresMax]{};
    std::atomic<uint32_t> last_{0};
    std::atomic<uint8_t> was_spurious_[FibreScheduler::kFibresMax]{};
  };
};

using FibresPolicy = RealPolicy<FibrePoints>;

}  // namespace slotfuzz::interleave
