// Threads ask the ctx of a custom Function for its node while the node's last owner drops it (A1).
#pragma once

#include <array>
#include <utility>

#include "core/c10/impl/protocol/deferred_calls.h"
#include "harness/interleave/scenarios/owned_target.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

template <class P>
class ContextScenario {
 public:
  static constexpr const char* kName = "context";
  static constexpr const char* kSentence = "threads ask a ctx for its node while that dies (A1b)";
  static constexpr uint8_t kId = 0xa1;
  static constexpr int kThreadsLeast = 2;
  static constexpr Named kOps[] = {
      {"drop", "without the GIL, drop what this thread owns of the node"},
      {"ask", "under the GIL, ask ctx for its node, and own that"},
      {"run", "under the GIL, run the deferred calls"},
  };
  static constexpr Named kShapes[] = {{"graph", "a node that thread 0 owns, and its ctx"}};

  // The owner of the graph drops it, and the others ask.
  static Plan golden(int threads) {
    Plan plan;
    plan.threads = static_cast<uint8_t>(threads);
    plan.add(0, kDrop);
    plan.add(0, kRun);
    for (int thread = 1; thread < threads; ++thread) {
      plan.add(thread, kAsk);
      plan.add(thread, kDrop);
    }
    return plan;
  }

  static int role(int, int thread) { return thread == 0 ? 0 : 1; }
  static bool concerns_neighbour(int) { return false; }

  explicit ContextScenario(const Plan& plan) : plan_(plan) {
    P::name(references_, "references of ctx");
    P::name(is_alive_, "ctx");
    // The node has one reference of ctx, and the program that asks has another.
    references_.store(2);
    held_[0] = Pointer(P::template make<Node>(this));
    known_ = Weak<P, Node>(held_[0]);
  }

  void run(int thread) {
    for (int i = 0; i < plan_.length(thread); ++i) {
      P::begin_line(i + 1);
      switch (static_cast<Op>(plan_.op(thread, i))) {
        case kDrop: held_[thread].reset(); break;
        case kAsk: ask(thread); break;
        case kRun: run_deferred(thread); break;
      }
    }
  }

  void finish() {
    for (Pointer& held : held_) held.reset();
    P::check(!known_.lock(), "A1b", "a node that is gone stays gone");
    run_calls();
    P::check(expirations_ == 1 && references_.load() == 1, "A1", "a node releases its ctx once");
    decref();
    P::check(is_alive_.load() == 0, "A9", "ctx dies with its last reference");
  }

 private:
  enum Op { kDrop, kAsk, kRun };
  using Number = typename P::template var<int>;

  struct Node {
    explicit Node(ContextScenario* scenario) : scenario(scenario) { P::name(is_whole, "node"); }
    // As PyNode does: the reference of ctx is released by a thread that has the GIL.
    void expire() {
      is_whole.store(0);
      ++scenario->expirations_;
      (void)scenario->deferred_.add(0);
    }

    Count<P> count;
    Number is_whole{1};
    ContextScenario* const scenario;
  };
  using Pointer = Strong<P, Node>;

  // The container of the queue, in which each access is checked for races.
  class Calls {
   public:
    void push_back(int) { size_.store(size_.load() + 1); }
    int size() const { return size_.load(); }
    void swap(Calls& other) {
      const int size = size_.load();
      size_.store(other.size_.load());
      other.size_.store(size);
    }
    int* begin() { return calls_.data(); }
    int* end() { return calls_.data() + size_.load(); }

   private:
    Number size_{0};
    std::array<int, 1> calls_{};  // the node dies once
  };

  // The node may be gone already: then it is gone for every later question of this thread.
  void ask(int thread) {
    Pointer found;
    {
      HoldsGil<P> gil(gil_, thread);
      P::check(is_alive_.load() == 1, "A1a", "ctx lives while the program has it");
      found = known_.lock();
      if (found) {
        P::check(found->is_whole.load() == 1, "A1b", "the node of a ctx is whole");
        P::check(references_.load() == 2, "A1", "a node owns its ctx");
      }
      P::check(!found || !is_gone_[thread], "A1b", "a node that is gone stays gone");
      is_gone_[thread] = !found;
    }
    // What it owned before is dropped here, without the GIL.
    held_[thread] = std::move(found);
  }

  void run_deferred(int thread) {
    HoldsGil<P> gil(gil_, thread);
    if (deferred_.any()) run_calls();
  }

  void run_calls() {
    deferred_.run([this](int) { decref(); });
  }

  // Under the GIL.
  void decref() {
    P::check(is_alive_.load() == 1, "A9", "a dead ctx is not released again");
    references_.store(references_.load() - 1);
    if (references_.load() == 0) is_alive_.store(0);
  }

  const Plan& plan_;
  Gil<P> gil_;
  slotcore::impl::protocol::DeferredCalls<P, Calls> deferred_;
  Number references_{0};  // under the GIL
  Number is_alive_{1};    // under the GIL
  Weak<P, Node> known_;
  std::array<Pointer, kThreadsMax> held_;    // one for each thread
  std::array<bool, kThreadsMax> is_gone_{};  // that it saw
  int expirations_ = 0;                      // twice would be a race, or a failure at the end
};

}  // namespace slotfuzz::interleave
