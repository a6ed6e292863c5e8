// Backwards on several threads add to the `.grad` of one leaf while Python reads and takes it
// (A5b).
#pragma once

#include <array>

#include "core/c10/impl/protocol/gradient_field.h"
#include "harness/interleave/scenarios/owned_target.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

template <class P>
class GradientScenario {
 public:
  static constexpr const char* kName = "gradient";
  static constexpr const char* kSentence = "backwards add to one .grad that Python takes (A5b)";
  static constexpr uint8_t kId = 0xa2;
  static constexpr int kThreadsLeast = 2;
  static constexpr Named kOps[] = {
      {"add", "a backward adds its gradient"},
      {"take", "Python sets .grad to None, and keeps what it was"},
      {"read", "Python reads .grad"},
      {"sum", "a backward that is recorded makes a new gradient of both"},
  };
  static constexpr Named kShapes[] = {
      {"none", "the leaf has no gradient yet"},
      {"some", "the leaf has a gradient"},
  };

  // Each thread adds once.
  static Plan golden(int threads) {
    Plan plan;
    plan.threads = static_cast<uint8_t>(threads);
    for (int thread = 0; thread < threads; ++thread) plan.add(thread, kAdd);
    return plan;
  }

  static int role(int, int) { return 0; }
  static bool concerns_neighbour(int) { return false; }

  explicit GradientScenario(const Plan& plan) : plan_(plan) {
    P::name(elements_, "elements mutex");
    if (plan.shape == 1) (void)field_.exchange(made(0));
  }

  void run(int thread) {
    for (int i = 0; i < plan_.length(thread); ++i) {
      P::begin_line(i + 1);
      switch (static_cast<Op>(plan_.op(thread, i))) {
        case kAdd: field_.accumulate(elements_, Sums{this, true}); break;
        case kSum: field_.accumulate(elements_, Sums{this, false}); break;
        case kTake: taken_[thread][i] = field_.exchange(Pointer()); break;
        case kRead: use(field_.get()); break;
      }
    }
  }

  void finish() {
    int added = 0;
    int sum = 0;
    const Pointer left = field_.exchange(Pointer());
    if (left) sum += left->value.load();
    for (int thread = 0; thread < plan_.threads; ++thread) {
      for (int i = 0; i < plan_.length(thread); ++i) {
        added += plan_.op(thread, i) == kAdd || plan_.op(thread, i) == kSum;
        Pointer taken = std::move(taken_[thread][i]);
        use(taken);
        if (taken) sum += taken->value.load();
      }
    }
    P::check(sum == added, "A5b", "backwards at once add up");
  }

 private:
  enum Op { kAdd, kTake, kRead, kSum };
  using Number = typename P::template var<int>;

  struct Gradient {
    Gradient(GradientScenario* scenario, int value) : value(value), scenario(scenario) {
      P::name(this->value, "elements");
    }
    // A finalizer looks at the leaf: it would wait for ever if the caller held a mutex.
    void expire() {
      is_whole.store(0);
      scenario->elements_.lock();
      scenario->elements_.unlock();
      (void)scenario->field_.get();
    }

    Count<P> count;
    Number is_whole{1};
    Number value;
    GradientScenario* const scenario;
  };
  using Pointer = Strong<P, Gradient>;

  struct Sums {
    GradientScenario* of;
    bool writes;

    bool is_in_place() const { return writes; }
    void add(const Pointer& former) { former->value.store(former->value.load() + 1); }
    int prepare(const Pointer&) const { return 1; }
    Pointer sum(const Pointer& former, int one) {
      return of->made(former ? former->value.load() + one : one);
    }
  };

  Pointer made(int value) { return Pointer(P::template make<Gradient>(this, value)); }
  void use(const Pointer& gradient) {
    if (gradient) P::check(gradient->is_whole.load() == 1, "P7", "what an owner has is whole");
  }

  const Plan& plan_;
  typename P::mutex elements_;
  slotcore::impl::protocol::GradientField<P, Pointer> field_;
  std::array<std::array<Pointer, kOpsMax>, kThreadsMax> taken_;
};

}  // namespace slotfuzz::interleave
