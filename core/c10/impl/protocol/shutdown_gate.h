// What lets threads into an interpreter until it ends (rundown protection). See Note [The shutdown
// gate] in core/python/preserve/interpreter.h for why.
//
// The thread that ends the interpreter closes the gate, releases what the threads inside may need
// (the GIL), and waits until the last one has left. Nobody enters afterwards.
#pragma once

#include <mutex>

#include "core/c10/impl/protocol/std_policy.h"

namespace slotcore::impl::protocol {

template <class P>
class ShutdownGate {
 public:
  // False when the gate is closed. Otherwise leave() must follow.
  [[nodiscard]] bool enter() noexcept {
    std::lock_guard lock(mutex_);
    if (is_closed_.load()) return false;
    inside_.store(inside_.load() + 1);
    return true;
  }

  void leave() noexcept {
    std::lock_guard lock(mutex_);
    inside_.store(inside_.load() - 1);
    // Under the lock: the waiting thread may free the gate as soon as it has the mutex.
    if (is_closed_.load() && inside_.load() == 0) left_.notify_all();
  }

  // Closes the gate for ever. False if threads are inside; then wait_until_empty() must follow.
  [[nodiscard]] bool close() noexcept {
    std::lock_guard lock(mutex_);
    is_closed_.store(true);
    return inside_.load() == 0;
  }

  void wait_until_empty() noexcept {
    std::lock_guard lock(mutex_);
    while (inside_.load() != 0) left_.wait(mutex_);
  }

 private:
  typename P::mutex mutex_;
  typename P::condition left_;
  // Guarded by the mutex.
  typename P::template var<int> inside_{0};
  typename P::template var<bool> is_closed_{false};
};

}  // namespace slotcore::impl::protocol
