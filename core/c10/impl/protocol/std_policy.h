// StdPolicy: the atomics, memory and checks that the protocols use in production.
//
// Note [Protocols over a policy]
// The slot, the tag, the counts, the vtable word and the share count are written once, as templates
// over a policy P that gives them memory and synchronisation. With StdPolicy they compile to the
// same instructions as code written by hand; a model checker passes its own policy and sees every
// access. So the checker checks the code that runs. P has
//
//   atomic<T>   loads, stores and read-modify-writes with a named order, as std::atomic
//   var<T>      plain memory: load() and store(); unordered accesses are a data race
//   mutex       lock() and unlock(); in a model it stands for the GIL
//   condition   wait(mutex), notify_one(), notify_all(); a wait may return without a notification
//   fence       std::atomic_thread_fence
//   check       asserts an invariant of the protocol: the number of the contract's sentence that
//               it is part of, if any, and words
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "core/c10/check.h"

namespace slotcore::impl::protocol {

struct StdPolicy {
  template <class T>
  using atomic = std::atomic<T>;

  template <class T>
  class var {
   public:
    constexpr var() noexcept = default;
    constexpr explicit var(T value) noexcept : value_(value) {}
    T load() const noexcept { return value_; }
    void store(T value) noexcept { value_ = value; }

   private:
    T value_{};
  };

  using mutex = std::mutex;

  class condition {
   public:
    // The caller holds the mutex; so it does when this returns.
    void wait(mutex& held) noexcept {
      std::unique_lock lock(held, std::adopt_lock);
      condition_.wait(lock);
      lock.release();
    }
    void notify_one() noexcept { condition_.notify_one(); }
    void notify_all() noexcept { condition_.notify_all(); }

   private:
    std::condition_variable condition_;
  };

  static void fence(std::memory_order order) noexcept { std::atomic_thread_fence(order); }

  static void check(bool holds, const char* /*contract*/, const char* what,
                    const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
    if (!holds) [[unlikely]]
      check_failed(what, file, line);
  }
};

}  // namespace slotcore::impl::protocol
