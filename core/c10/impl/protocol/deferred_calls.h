// Calls that any thread adds and that a thread with the GIL runs: see Note [Without the GIL, defer
// the work] in core/python/preserve/interpreter.h. `Calls` is a container: push_back(), size(),
// swap(), and a range.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

#include "core/c10/impl/protocol/std_policy.h"

namespace slotcore::impl::protocol {

template <class P, class Calls>
class DeferredCalls {
 public:
  // Any thread may call this. True when no call was waiting before: then the caller sees to it that
  // some thread runs them.
  template <class Call>
  [[nodiscard]] bool add(Call call) noexcept {
    std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    any_.store(true, std::memory_order_relaxed);  // see any()
    return calls_.size() == 1;
  }

  // Calls `run_one` for each call that was added and has not run yet. Needs the GIL.
  template <class RunOne>
  void run(RunOne run_one) noexcept {
    Calls taken;
    {
      // The lock is not held while a call runs: a call may end in add(), or give the GIL to a
      // thread that calls add(). They are taken first, as that thread may also call run().
      std::lock_guard lock(mutex_);
      taken.swap(calls_);
      any_.store(false, std::memory_order_relaxed);  // see any()
    }
    for (auto& call : taken) run_one(call);
  }

  // Relaxed: a hint for callers that would call run() anyway; the lock orders. A thread that an
  // add() is ordered before sees that there is a call.
  bool any() const noexcept { return any_.load(std::memory_order_relaxed); }

 private:
  typename P::mutex mutex_;
  Calls calls_;  // guarded by the mutex
  typename P::template atomic<bool> any_{false};
};

}  // namespace slotcore::impl::protocol
