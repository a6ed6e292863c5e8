// Threads look up the AccumulateGrad of one leaf, which is made when nobody owns one (A1c).
#pragma once

#include <algorithm>
#include <array>

#include "core/c10/impl/protocol/lock_or_create.h"
#include "harness/interleave/scenarios/owned_target.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

template <class P>
class AccumulatorScenario {
 public:
  static constexpr const char* kName = "accumulator";
  static constexpr const char* kSentence =
      "threads look up or make the accumulator of a leaf (A1c)";
  static constexpr uint8_t kId = 0xa1;
  static constexpr int kThreadsLeast = 2;
  static constexpr Named kOps[] = {
      {"get", "look up the accumulator, or make one"},
      {"drop", "drop the accumulator that this thread has"},
      {"use", "read the leaf through the accumulator"},
  };
  static constexpr Named kShapes[] = {
      {"known", "thread 0 has the accumulator"},
      {"none", "nobody has ever looked it up"},
  };

  // The last owner drops the accumulator while the others look it up.
  static Plan golden(int threads) {
    Plan plan;
    plan.threads = static_cast<uint8_t>(threads);
    plan.add(0, kDrop);
    for (int thread = 1; thread < threads; ++thread) plan.add(thread, kGet);
    return plan;
  }

  static int role(int shape, int thread) { return shape == 0 ? std::min(thread, 1) : 0; }
  static bool concerns_neighbour(int) { return false; }

  explicit AccumulatorScenario(const Plan& plan) : plan_(plan) {
    P::name(leaf_, "leaf");
    if (plan.shape == 0) held_[0] = get();
  }

  void run(int thread) {
    for (int i = 0; i < plan_.length(thread); ++i) {
      P::begin_line(i + 1);
      switch (static_cast<Op>(plan_.op(thread, i))) {
        case kGet: look_up(thread); break;
        case kDrop: held_[thread].reset(); break;
        case kUse: use(thread); break;
      }
    }
  }

  void finish() {
    Accumulator* owned = nullptr;
    for (Held& held : held_) {
      if (!held) continue;
      P::check(owned == nullptr || owned == held.get(), "A1c", kOne);
      owned = held.get();
    }
    for (Held& held : held_) held.reset();
    P::check(!known_.lock(), "P4", "a dead accumulator stays dead");
  }

 private:
  enum Op { kGet, kDrop, kUse };
  static constexpr const char* kOne = "a leaf has one accumulator while anyone owns it";
  using Number = typename P::template var<int>;

  struct Accumulator {
    explicit Accumulator(AccumulatorScenario* scenario) : scenario(scenario) {}
    // A finalizer looks at the leaf: it would wait for ever if the caller held the mutex.
    void expire() {
      is_whole.store(0);
      scenario->mutex_.lock();
      scenario->mutex_.unlock();
    }

    Count<P> count;
    Number is_whole{1};
    AccumulatorScenario* const scenario;
  };
  using Held = Strong<P, Accumulator>;

  Held get() {
    return slotcore::impl::protocol::lock_or_create<P>(
        mutex_, known_, [this] { return Held(P::template make<Accumulator>(this)); });
  }

  void look_up(int thread) {
    Held found = get();
    P::check(found->is_whole.load() == 1, "P4", "a dead accumulator stays dead");
    P::check(!held_[thread] || held_[thread] == found, "A1c", kOne);
    held_[thread] = std::move(found);
  }

  void use(int thread) {
    if (!held_[thread]) return;
    P::check(held_[thread]->is_whole.load() == 1, "P7", "what an owner has is whole");
    P::check(leaf_.load() == 1, "P7", "the leaf of an accumulator is whole");
  }

  const Plan& plan_;
  Number leaf_{1};
  typename P::mutex mutex_;
  Weak<P, Accumulator> known_;
  std::array<Held, kThreadsMax> held_;  // one for each thread
};

}  // namespace slotfuzz::interleave
