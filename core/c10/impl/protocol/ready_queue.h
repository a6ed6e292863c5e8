// The tasks that one thread of the engine runs: the caller of a backward, or the thread of a
// device. Any thread adds some.
//
// `Tasks` is a container, which says what comes next: value_type, push(task), pop() and empty().
// No task is dropped under the lock, since it owns a node (Note [No lock around user code]).
#pragma once

#include <mutex>
#include <optional>
#include <utility>

#include "core/c10/impl/protocol/std_policy.h"

namespace slotcore::impl::protocol {

template <class P, class Tasks>
class ReadyQueue {
 public:
  using Task = typename Tasks::value_type;

  // The caller knows that a thread serves the queue until the task has run.
  void push(Task task) noexcept {
    std::lock_guard lock(mutex_);
    add(std::move(task));
  }
  // False if the queue has ended; then the task stays with the caller.
  [[nodiscard]] bool push_unless_ended(Task& task) noexcept {
    std::lock_guard lock(mutex_);
    if (is_ended_.load()) return false;
    add(std::move(task));
    return true;
  }

  // Waits for a task. Nothing when the queue has ended and is empty.
  std::optional<Task> pop() noexcept {
    return pop_unless([this] { return is_ended_.load() && tasks_.empty(); });
  }

  // From here on only the owners of unfinished work add tasks. Any of them still runs.
  void end() noexcept {
    std::lock_guard lock(mutex_);
    is_ended_.store(true);
    changed_.notify_all();
  }

 private:
  template <class, class, class>
  friend class Completion;

  void add(Task task) noexcept {
    tasks_.push(std::move(task));
    // Under the lock: a thread that runs the task may then free the queue.
    changed_.notify_one();
  }

  // `is_over` is asked under the lock.
  template <class IsOver>
  std::optional<Task> pop_unless(IsOver is_over) noexcept {
    std::lock_guard lock(mutex_);
    for (;;) {
      if (is_over()) return std::nullopt;
      if (!tasks_.empty()) return tasks_.pop();
      changed_.wait(mutex_);
    }
  }

  typename P::mutex mutex_;
  typename P::condition changed_;
  // Guarded by the mutex.
  Tasks tasks_;
  typename P::template var<bool> is_ended_{false};
};

}  // namespace slotcore::impl::protocol
