// Threads release references to an interpreter's objects while it ends: through its queue of
// deferred calls, or under its GIL, and in both cases through its shutdown gate (T6).
#pragma once

#include <array>
#include <utility>

#include "core/c10/impl/protocol/deferred_calls.h"
#include "core/c10/impl/protocol/shutdown_gate.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

template <class P>
class EndingScenario {
 public:
  static constexpr const char* kName = "ending";
  static constexpr const char* kSentence = "references are released while an interpreter ends (T6)";
  static constexpr uint8_t kId = 0xf1;
  static constexpr int kThreadsLeast = 2;
  static constexpr Named kOps[] = {
      {"defer", "release a reference without the GIL: defer the decref"},
      {"enter", "release a reference: take the GIL for it"},
      {"run", "under the GIL, run the deferred calls if there may be any"},
      {"serve", "as the main thread: sleep until a call is pending, then run"},
      {"end", "the interpreter ends"},
  };
  static constexpr Named kShapes[] = {
      {"references", "a reference for each defer and enter"},
      {"queued", "the same, and a decref of one more has been deferred"},
  };

  // One thread ends the interpreter, the others defer.
  static Plan golden(int threads) {
    Plan plan;
    plan.threads = static_cast<uint8_t>(threads);
    plan.add(0, kEnd);
    for (int thread = 1; thread < threads; ++thread) plan.add(thread, kDefer);
    return plan;
  }

  static int role(int, int) { return 0; }
  static bool concerns_neighbour(int) { return false; }

  explicit EndingScenario(const Plan& plan) : plan_(plan) {
    P::name(references_, "references");
    P::name(is_ended_, "ended");
    P::name(pending_, "pending call");
    find_who_sleeps();
    if (plan.shape != kQueued) return;
    (void)deferred_.add(std::pair{kFinisher, 0});
    pending_.store(kCall);
  }

  void run(int thread) {
    for (int i = 0; i < plan_.length(thread); ++i) {
      P::begin_line(i + 1);
      switch (static_cast<Op>(plan_.op(thread, i))) {
        case kDefer: defer(thread, i); break;
        case kEnter: enter(thread, i); break;
        case kRun: run_under_gil(thread); break;
        case kServe: serve(thread, i); break;
        case kEnd: end(thread); break;
      }
    }
  }

  void finish() {
    if (is_ended_.load() == 0) run_calls();
    int released = 0;
    if (plan_.shape == kQueued) released += check_once(outcomes_[kFinisher][0]);
    for (int thread = 0; thread < plan_.threads; ++thread) {
      for (int i = 0; i < plan_.length(thread); ++i) {
        const int op = plan_.op(thread, i);
        if (op == kDefer || op == kEnter) released += check_once(outcomes_[thread][i]);
      }
    }
    P::check(references_.load() == -released, "P7", "no decref is lost");
  }

 private:
  enum Op { kDefer, kEnter, kRun, kServe, kEnd };
  enum Shape { kReferences, kQueued };
  using Number = typename P::template var<int>;

  // The container of the queue, in which each access is checked for races.
  class Calls {
   public:
    void push_back(std::pair<int, int> call) {
      size_.store(size_.load() + 1);
      calls_[size_.load() - 1] = call;
    }
    int size() const { return size_.load(); }
    void swap(Calls& other) {
      const int size = size_.load();
      size_.store(other.size_.load());
      other.size_.store(size);
      std::swap(calls_, other.calls_);
    }
    std::pair<int, int>* begin() { return calls_.data(); }
    std::pair<int, int>* end() { return calls_.data() + size_.load(); }

   private:
    Number size_{0};
    std::array<std::pair<int, int>, kThreadsMax * kOpsMax + 1> calls_;
  };

  // Of a reference. Written by the thread that releases it; twice would be a race, or a failure.
  struct Outcome {
    int decrefs = 0;
    int left_behind = 0;
  };

  int check_once(const Outcome& outcome) {
    P::check(outcome.decrefs + outcome.left_behind == 1, "T6",
             "a reference is released once, or left behind");
    return outcome.decrefs;
  }

  void defer(int thread, int i) {
    if (!gate_.enter()) return leave_behind(thread, i);
    // CPython's pending call wakes the main thread.
    if (deferred_.add(std::pair{thread, i})) set_pending();
    gate_.leave();
  }

  void enter(int thread, int i) {
    if (!gate_.enter()) return leave_behind(thread, i);
    {
      HoldsGil<P> gil(gil_, thread);
      decref(thread, i);
    }
    gate_.leave();
  }

  void run_under_gil(int thread) {
    HoldsGil<P> gil(gil_, thread);
    if (is_ended_.load() == 0 && deferred_.any()) run_calls(thread);
  }

  // A serve sleeps if something is sure to wake it: another thread that ends the interpreter and
  // does not sleep before, or a call that another thread defers for it alone.
  void find_who_sleeps() {
    int ender = kNobody;
    int serves = 0;
    uint8_t deferring = 0;
    for (int thread = plan_.threads - 1; thread >= 0; --thread) {
      for (int i = 0; i < plan_.length(thread); ++i) {
        if (plan_.op(thread, i) == kEnd) ender = thread;
        if (plan_.op(thread, i) == kServe) ++serves;
        if (plan_.op(thread, i) == kDefer) deferring |= static_cast<uint8_t>(1 << thread);
      }
    }
    for (int thread = 0; thread < plan_.threads; ++thread) {
      const bool is_alone = serves == 1 && (deferring & ~(1 << thread)) != 0;
      const bool sleeps = ender == kNobody ? is_alone : thread != ender;
      for (int i = 0; i < plan_.length(thread); ++i) sleeps_[thread][i] = sleeps;
    }
  }

  void serve(int thread, int i) {
    mutex_.lock();
    while (sleeps_[thread][i] && pending_.load() == 0) added_.wait(mutex_);
    // At the end it stays set, for all that serve.
    if (pending_.load() == kCall) pending_.store(0);
    mutex_.unlock();
    run_under_gil(thread);
  }

  void end(int thread) {
    HoldsGil<P> gil(gil_, thread);
    if (std::exchange(is_ending_, true)) return;
    if (!gate_.close()) {
      gil_.unlock(thread);
      gate_.wait_until_empty();
      gil_.lock(thread);
    }
    if (deferred_.any()) run_calls(thread);
    is_ended_.store(1);
    mutex_.lock();
    pending_.store(kEnded);
    added_.notify_all();
    mutex_.unlock();
  }

  // The caller holds the GIL. A finalizer gives it to other threads; if the interpreter has ended
  // when this one wants it back, CPython ends this thread, which leaves the other calls behind.
  void run_calls(int thread = kFinisher) {
    bool is_killed = false;
    deferred_.run([this, thread, &is_killed](const std::pair<int, int>& call) {
      is_killed |= is_ended_.load() != 0;
      if (is_killed) return leave_behind(call.first, call.second);
      decref(call.first, call.second);
      if (thread == kFinisher) return;
      gil_.unlock(thread);
      gil_.lock(thread);
    });
  }

  void decref(int thread, int i) {
    P::check(is_ended_.load() == 0, "T6", "after the end, references are left behind");
    references_.store(references_.load() - 1);
    ++outcomes_[thread][i].decrefs;
  }
  void leave_behind(int thread, int i) { ++outcomes_[thread][i].left_behind; }

  void set_pending() {
    mutex_.lock();
    if (pending_.load() == 0) pending_.store(kCall);
    added_.notify_one();
    mutex_.unlock();
  }

  static constexpr int kCall = 1;
  static constexpr int kEnded = 2;

  const Plan& plan_;
  Gil<P> gil_;
  slotcore::impl::protocol::ShutdownGate<P> gate_;
  slotcore::impl::protocol::DeferredCalls<P, Calls> deferred_;
  Number references_{0};
  bool is_ending_ = false;  // under the GIL
  Number is_ended_{0};
  // CPython's flag of pending calls, and how it wakes the main thread.
  typename P::mutex mutex_;
  typename P::condition added_;
  Number pending_{0};
  std::array<std::array<Outcome, kOpsMax>, kThreadsMax + 1> outcomes_{};  // also kFinisher's
  std::array<std::array<bool, kOpsMax>, kThreadsMax> sleeps_{};
};

}  // namespace slotfuzz::interleave
