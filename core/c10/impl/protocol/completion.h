// When a backward is complete: all tasks that it has added to any queue have ended, also those that
// an error has skipped. Its owner waits for that, and runs tasks meanwhile.
//
// The mutex of the owner's queue guards it. So a thread that ends a task touches it for the last
// time before the owner can know that all have ended, and the owner may free it then.
#pragma once

#include <mutex>
#include <optional>
#include <utility>

#include "core/c10/impl/protocol/ready_queue.h"

namespace slotcore::impl::protocol {

// `Error` is what a task may fail with; the default value is no error.
template <class P, class Tasks, class Error>
class Completion {
 public:
  using Queue = ReadyQueue<P, Tasks>;

  // `owners` is the queue that the owner serves.
  explicit Completion(Queue& owners) noexcept : owners_(owners) {}

  // A task will be added to a queue. Only the owner begins the first one, and a thread that runs a
  // task any other.
  void begin_task() noexcept {
    std::lock_guard lock(owners_.mutex_);
    unfinished_.store(unfinished_.load() + 1);
  }

  // A task has ended. What it did is seen by the owner, which the last task wakes.
  void end_task() noexcept {
    std::lock_guard lock(owners_.mutex_);
    unfinished_.store(unfinished_.load() - 1);
    // All: of the threads that wait, one that does not own this may be woken and wait again.
    if (unfinished_.load() == 0) owners_.changed_.notify_all();
  }

  // Keeps the first error. Returns any other, for the caller to drop before it ends its task.
  [[nodiscard]] Error fail(Error error) noexcept {
    std::lock_guard lock(owners_.mutex_);
    if (has_failed()) return error;
    std::swap(error_, error);
    // Relaxed: a hint for tasks that need not run any more. The lock orders the error.
    has_failed_.store(true, std::memory_order_relaxed);
    return error;
  }
  bool has_failed() const noexcept { return has_failed_.load(std::memory_order_relaxed); }

  // For the owner: its next task, which may belong to another completion; waits for it. Nothing
  // when all tasks of this completion have ended.
  std::optional<typename Queue::Task> pop() noexcept {
    return owners_.pop_unless([this] { return unfinished_.load() == 0; });
  }
  // For the owner, at the end.
  Error take_error() noexcept { return std::exchange(error_, Error{}); }

 private:
  Queue& owners_;
  // Guarded by the mutex of owners_.
  typename P::template var<int> unfinished_{0};
  Error error_{};
  typename P::template atomic<bool> has_failed_{false};
};

}  // namespace slotcore::impl::protocol
