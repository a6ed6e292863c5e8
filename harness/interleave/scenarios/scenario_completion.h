// A backward runs on several threads, and some of its tasks fail. Its owner waits for all of them,
// and then frees it (A5c, A5d).
#pragma once

#include <array>

#include "core/c10/impl/protocol/completion.h"
#include "harness/interleave/scenarios/owned_target.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

template <class P>
class CompletionScenario {
 public:
  static constexpr const char* kName = "completion";
  static constexpr const char* kSentence = "the owner of a backward waits for its tasks (A5c)";
  static constexpr uint8_t kId = 0xa5;
  static constexpr int kThreadsLeast = 2;
  static constexpr Named kOps[] = {
      {"work", "run a task"},
      {"fail", "run a task that fails"},
      {"add", "run a task that adds one to the owner's queue"},
      {"own", "as the owner, run tasks until all have ended, and free the backward"},
  };
  static constexpr Named kShapes[] = {{"backward", "a task for each work, fail and add"}};

  // The owner, a task that fails, and others.
  static Plan golden(int threads) {
    Plan plan;
    plan.threads = static_cast<uint8_t>(threads);
    plan.add(0, kOwn);
    plan.add(1, kFail);
    for (int thread = 2; thread < threads; ++thread) plan.add(thread, kWork);
    return plan;
  }

  static int role(int, int) { return 0; }
  static bool concerns_neighbour(int) { return false; }

  explicit CompletionScenario(const Plan& plan) : plan_(plan) {
    for (int thread = 0; thread < plan.threads; ++thread) {
      for (int i = 0; i < plan.length(thread) && owner_ == kNobody; ++i) {
        if (plan.op(thread, i) == kOwn) owner_ = thread;
      }
    }
    for (int thread = 0; thread < plan.threads; ++thread) {
      for (int i = 0; i < tasks_of(thread); ++i) {
        P::name(results_[thread][i], "result");
        if (plan.op(thread, i) != kOwn) backward_->completion.begin_task();
      }
    }
  }

  void run(int thread) {
    for (int i = 0; i < tasks_of(thread); ++i) {
      P::begin_line(i + 1);
      if (plan_.op(thread, i) != kOwn) run_task(thread, i);
    }
    if (thread == owner_) own();
  }

  void finish() {
    if (owner_ == kNobody) own();
    int added = 0, failed = 0, kept = 0;
    for (int thread = 0; thread < plan_.threads; ++thread) {
      for (int i = 0; i < tasks_of(thread); ++i) {
        added += plan_.op(thread, i) == kAdd;
        failed += plan_.op(thread, i) == kFail;
        kept += is_kept_[thread][i];
        if (plan_.op(thread, i) != kFail) continue;
        P::check(drops_[thread][i].load() == 1, "P5", "each error is dropped once");
      }
    }
    P::check(ran_of_own_queue_ == added, "A5d", "each task runs once");
    P::check(kept == (failed > 0), "A5c", "one error is kept");
  }

 private:
  enum Op { kWork, kFail, kAdd, kOwn };
  using Number = typename P::template var<int>;

  // What a task fails with. Its end runs user code, which would wait for ever under a lock.
  struct Failure {
    Failure(CompletionScenario* scenario, int thread, int i)
        : scenario(scenario), thread(thread), i(i) {}
    void expire() { scenario->drop_error(thread, i); }

    Count<P> count;
    CompletionScenario* const scenario;
    const int thread;
    const int i;
  };
  using Error = Strong<P, Failure>;

  struct Task {};
  class Tasks {
   public:
    using value_type = Task;
    void push(Task) { size_.store(size_.load() + 1); }
    Task pop() {
      size_.store(size_.load() - 1);
      return {};
    }
    bool empty() const { return size_.load() == 0; }

   private:
    Number size_{0};
  };

  struct Backward {
    slotcore::impl::protocol::ReadyQueue<P, Tasks> queue;
    slotcore::impl::protocol::Completion<P, Tasks, Error> completion{queue};
  };

  // What the owner does after it has waited belongs to no backward.
  int tasks_of(int thread) const {
    if (thread != owner_) return plan_.length(thread);
    int i = 0;
    while (plan_.op(thread, i) != kOwn) ++i;
    return i;
  }

  void run_task(int thread, int i) {
    auto& completion = backward_->completion;
    results_[thread][i].store(1);
    if (plan_.op(thread, i) == kAdd) {
      completion.begin_task();
      backward_->queue.push({});
    }
    if (plan_.op(thread, i) == kFail) {
      Error other = completion.fail(Error(P::template make<Failure>(this, thread, i)));
      is_kept_[thread][i] = !other;
    }
    completion.end_task();
  }

  void own() {
    while (backward_->completion.pop()) {
      ++ran_of_own_queue_;
      backward_->completion.end_task();
    }
    for (int thread = 0; thread < plan_.threads; ++thread) {
      for (int i = 0; i < tasks_of(thread); ++i) {
        const bool is_seen = plan_.op(thread, i) == kOwn || results_[thread][i].load() == 1;
        P::check(is_seen, "A5c", "the owner sees what each task has done");
      }
    }
    Error error = backward_->completion.take_error();
    if (error) P::check(is_kept_[error->thread][error->i], "A5c", "the first error is kept");
    error.reset();
    P::destroy(backward_);
  }

  void drop_error(int thread, int i) {
    backward_->completion.begin_task();
    drops_[thread][i].store(drops_[thread][i].load() + 1);
    backward_->completion.end_task();
  }

  const Plan& plan_;
  int owner_ = kNobody;
  Backward* const backward_ = P::template make<Backward>();
  std::array<std::array<Number, kOpsMax>, kThreadsMax> results_;
  std::array<std::array<Number, kOpsMax>, kThreadsMax> drops_;  // of errors
  std::array<std::array<bool, kOpsMax>, kThreadsMax> is_kept_{};
  int ran_of_own_queue_ = 0;
};

}  // namespace slotfuzz::interleave
