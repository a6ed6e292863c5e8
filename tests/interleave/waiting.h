// Threads that wait until another thread has stored a value, with faults to choose. Written over a
// policy, so that each engine runs the same program.
#pragma once

#include "tests/interleave/memory_orders.h"

namespace slotfuzz::interleave {

// Thread 0 stores the value and the flag under the mutex and notifies; the others wait for the flag
// and read the value.
enum class WaitingFault {
  kNone,
  kForgetsToNotify,
  kNotifiesOne,   // though several wait
  kWaitsOnce,     // without a loop, so that a spurious wakeup is taken for a notification
  kStoresEarly,   // the flag without the mutex, between a waiter's look and its wait
  kWritesAfter,   // the value after the mutex: a notification publishes nothing
  kUnlocksTwice,  // waits without the mutex
};

template <class P>
class Waiting {
 public:
  explicit Waiting(int, WaitingFault fault = WaitingFault::kNone) : fault_(fault) {}

  void run(int thread) { thread == 0 ? give() : take(); }
  void finish() {}

 private:
  void give() {
    const bool locks = fault_ != WaitingFault::kStoresEarly;
    if (locks) mutex_.lock();
    if (fault_ != WaitingFault::kWritesAfter) value_.store(7);
    // Release: pairs with the acquire of a waiter that reads it while this thread has no mutex.
    flag_.store(1, kRelease);
    if (locks) mutex_.unlock();
    if (fault_ == WaitingFault::kWritesAfter) value_.store(7);
    if (fault_ == WaitingFault::kForgetsToNotify) return;
    fault_ == WaitingFault::kNotifiesOne ? given_.notify_one() : given_.notify_all();
  }

  void take() {
    mutex_.lock();
    if (fault_ == WaitingFault::kUnlocksTwice) mutex_.unlock();
    if (fault_ == WaitingFault::kWaitsOnce) {
      if (flag_.load(kAcquire) == 0) given_.wait(mutex_);
    } else {
      while (flag_.load(kAcquire) == 0) given_.wait(mutex_);
    }
    P::check(flag_.load(kAcquire) == 1, "", "a thread that waited finds the flag");
    P::check(value_.load() == 7, "", "a thread that waited finds the value");
    mutex_.unlock();
  }

  const WaitingFault fault_;
  typename P::mutex mutex_;
  typename P::condition given_;
  typename P::template atomic<int> flag_{0};
  typename P::template var<int> value_{0};
};

}  // namespace slotfuzz::interleave
