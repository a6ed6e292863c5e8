// Threads add tasks to the queue of a device, whose thread runs them until the queue ends (A5d).
#pragma once

#include <array>

#include "core/c10/impl/protocol/ready_queue.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

template <class P>
class ReadyQueueScenario {
 public:
  static constexpr const char* kName = "ready_queue";
  static constexpr const char* kSentence = "a device runs the tasks of several backwards (A5d)";
  static constexpr uint8_t kId = 0xa4;
  static constexpr int kThreadsLeast = 2;
  static constexpr Named kOps[] = {
      {"push", "add a task; run it here if the queue has ended"},
      {"serve", "run tasks until the queue has ended"},
      {"end", "end the queue"},
  };
  static constexpr Named kShapes[] = {
      {"empty", "an empty queue"},
      {"one", "a task is queued"},
  };

  // One thread ends the queue, one serves it, the others add to it.
  static Plan golden(int threads) {
    Plan plan;
    plan.threads = static_cast<uint8_t>(threads);
    plan.add(0, kEnd);
    plan.add(1, kServe);
    for (int thread = 2; thread < threads; ++thread) plan.add(thread, kPush);
    return plan;
  }

  static int role(int, int) { return 0; }
  static bool concerns_neighbour(int) { return false; }

  explicit ReadyQueueScenario(const Plan& plan) : plan_(plan) {
    for (int thread = plan.threads - 1; thread >= 0; --thread) {
      for (int i = 0; i < plan.length(thread); ++i) {
        if (plan.op(thread, i) == kEnd) ender_ = thread;
      }
    }
    if (plan.shape == 1) queue_.push({kFinisher, 0});
  }

  void run(int thread) {
    bool has_ended = false;
    for (int i = 0; i < plan_.length(thread); ++i) {
      P::begin_line(i + 1);
      switch (static_cast<Op>(plan_.op(thread, i))) {
        case kPush: push(thread, i); break;
        // Only if a thread ends the queue, and that is not this one, later.
        case kServe: (has_ended || (ender_ != kNobody && ender_ != thread)) && serve(thread); break;
        case kEnd:
          queue_.end();
          has_ended = true;
          break;
      }
    }
  }

  void finish() {
    bool has_served = false;
    for (bool served : has_served_) has_served |= served;
    queue_.end();
    while (auto task = queue_.pop()) {
      P::check(!has_served, "A5d", "nothing is left in a queue that has ended");
      run_task(*task);
    }
    if (plan_.shape == 1) check_once(kFinisher, 0);
    for (int thread = 0; thread < plan_.threads; ++thread) {
      for (int i = 0; i < plan_.length(thread); ++i) {
        if (plan_.op(thread, i) == kPush) check_once(thread, i);
      }
    }
  }

 private:
  enum Op { kPush, kServe, kEnd };
  using Number = typename P::template var<int>;

  struct Task {
    int thread;
    int i;
  };

  // The container of the queue, in which each access is checked for races. The last task is first.
  class Tasks {
   public:
    using value_type = Task;
    void push(Task task) {
      tasks_[size_.load()] = task;
      size_.store(size_.load() + 1);
    }
    Task pop() {
      size_.store(size_.load() - 1);
      return tasks_[size_.load()];
    }
    bool empty() const { return size_.load() == 0; }

   private:
    Number size_{0};
    std::array<Task, kThreadsMax * kOpsMax + 1> tasks_;
  };

  void push(int thread, int i) {
    inputs_[thread][i].store(1);
    Task task{thread, i};
    if (!queue_.push_unless_ended(task)) run_task(task);
  }

  bool serve(int thread) {
    while (auto task = queue_.pop()) run_task(*task);
    return has_served_[thread] = true;
  }

  void run_task(const Task& task) {
    const bool is_ready = task.thread == kFinisher || inputs_[task.thread][task.i].load() == 1;
    P::check(is_ready, "A5d", "a task sees its inputs");
    runs_[task.thread][task.i].store(runs_[task.thread][task.i].load() + 1);
  }

  void check_once(int thread, int i) {
    P::check(runs_[thread][i].load() == 1, "A5d", "each task runs once");
  }

  const Plan& plan_;
  int ender_ = kNobody;  // the first thread that ends the queue
  slotcore::impl::protocol::ReadyQueue<P, Tasks> queue_;
  std::array<std::array<Number, kOpsMax>, kThreadsMax> inputs_;
  std::array<std::array<Number, kOpsMax>, kThreadsMax + 1> runs_;  // also kFinisher's
  std::array<bool, kThreadsMax> has_served_{};
};

}  // namespace slotfuzz::interleave
