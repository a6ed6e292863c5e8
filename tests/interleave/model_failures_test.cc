// The model finds each kind of failure in a program that has it, and not in its correct twin.

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "harness/interleave/explore/explore.h"
#include "harness/interleave/model/model_policy.h"

namespace slotfuzz::interleave {
namespace {

using P = ModelPolicy;
constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcqRel = std::memory_order_acq_rel;

struct Box {
  P::var<int> value{0};
};

struct Shared {
  P::atomic<int> flag{0};
  P::atomic<Box*> box{nullptr};
  P::mutex a;
  P::mutex b;
};

class Scenario {
 public:
  using Body = std::function<void(Shared&)>;
  explicit Scenario(std::vector<Body> bodies) : bodies_(std::move(bodies)) {}
  void run(int thread) { bodies_[thread](shared_); }
  void finish() {}

 private:
  std::vector<Body> bodies_;
  Shared shared_;
};

std::optional<FailureKind> failure_in(std::vector<Scenario::Body> bodies) {
  const int threads = static_cast<int>(bodies.size());
  ProgramOf<Scenario, std::vector<Scenario::Body>> program(threads, std::move(bodies));
  const Result result = explore(program);
  EXPECT_FALSE(result.cut);
  if (!result.failure) return std::nullopt;
  // The schedule leads to the same failure in every mode.
  EXPECT_EQ(explore(program, {.mode = Mode::kBounded}).failure->kind, result.failure->kind);
  const Replay again = replay(program, result.failure->schedule);
  EXPECT_TRUE(again.failure && again.failure->message == result.failure->message);
  return result.failure->kind;
}

// The second thread uses the box that the first one makes.
std::vector<Scenario::Body> hand_over(std::memory_order store, std::memory_order load) {
  return {[store](Shared& s) { s.box.store(P::make<Box>(), store); },
          [load](Shared& s) {
            Box* box = nullptr;
            for (int i = 0; i < 2 && box == nullptr; ++i) box = s.box.load(load);
            if (box == nullptr) box = P::make<Box>();
            P::check(box->value.load() == 0, "", "a box is made empty");
            if (s.box.load(kRelaxed) != box) P::destroy(box);
          }};
}

TEST(Failures, an_unpublished_construction_is_a_race) {
  EXPECT_EQ(failure_in(hand_over(kRelaxed, kAcquire)), FailureKind::kRace);
  EXPECT_EQ(failure_in(hand_over(kRelease, kRelaxed)), FailureKind::kRace);
}

TEST(Failures, what_nobody_frees_is_a_leak) {
  EXPECT_EQ(failure_in(hand_over(kRelease, kAcquire)), FailureKind::kLeak);
  EXPECT_EQ(failure_in({[](Shared&) { P::destroy(P::make<Box>()); }}), std::nullopt);
}

TEST(Failures, a_free_that_is_not_ordered_after_a_use_is_one_after_free) {
  const auto last_one_frees = [](std::memory_order order) {
    const auto drop = [order](Shared& s) {
      Box* box = s.box.load(kAcquire);
      if (box == nullptr) return;
      box->value.load();
      if (s.flag.fetch_add(1, order) == 1) P::destroy(box);
    };
    const auto make = [drop](Shared& s) {
      s.box.store(P::make<Box>(), kRelease);
      drop(s);
    };
    const auto use = [drop](Shared& s) {
      if (s.box.load(kAcquire) != nullptr) return drop(s);
      s.flag.fetch_add(1, kRelaxed);
    };
    return std::vector<Scenario::Body>{make, use};
  };
  EXPECT_EQ(failure_in(last_one_frees(kRelaxed)), FailureKind::kUseAfterFree);
}

TEST(Failures, a_use_after_a_free_is_found_whichever_came_first) {
  const auto use = [](Shared& s) {
    if (Box* box = s.box.load(kAcquire)) box->value.load();
  };
  EXPECT_EQ(failure_in({[](Shared& s) {
                          Box* box = P::make<Box>();
                          s.box.store(box, kRelease);
                          P::destroy(box);
                        },
                        use}),
            FailureKind::kUseAfterFree);
}

TEST(Failures, two_frees_are_a_double_free) {
  EXPECT_EQ(failure_in({[](Shared&) {
              Box* box = P::make<Box>();
              P::destroy(box);
              P::destroy(box);
            }}),
            FailureKind::kDoubleFree);
}

TEST(Failures, locks_taken_in_opposite_order_are_a_deadlock) {
  const auto a_then_b = [](Shared& s) {
    s.a.lock();
    s.b.lock();
    s.b.unlock();
    s.a.unlock();
  };
  const auto b_then_a = [](Shared& s) {
    s.b.lock();
    s.a.lock();
    s.a.unlock();
    s.b.unlock();
  };
  EXPECT_EQ(failure_in({a_then_b, b_then_a}), FailureKind::kDeadlock);
  EXPECT_EQ(failure_in({a_then_b, a_then_b}), std::nullopt);
}

TEST(Failures, a_mutex_is_unlocked_by_its_holder_only) {
  EXPECT_EQ(failure_in({[](Shared& s) { s.a.unlock(); }}), FailureKind::kMutexMisuse);
}

TEST(Failures, a_check_may_fail_in_one_execution_of_many) {
  EXPECT_EQ(failure_in({[](Shared& s) { s.flag.store(1, kRelaxed); },
                        [](Shared& s) {
                          P::check(s.flag.load(kRelaxed) == s.flag.load(kRelaxed), "",
                                   "two loads see the same");
                        }}),
            FailureKind::kCheck);
}

TEST(Failures, sequential_consistency_is_refused_loudly) {
  constexpr auto kSeqCst = std::memory_order_seq_cst;
  EXPECT_EQ(failure_in({[](Shared& s) { s.flag.store(1, kSeqCst); }}), FailureKind::kUnsupported);
  EXPECT_EQ(failure_in({[](Shared&) { P::fence(kSeqCst); }}), FailureKind::kUnsupported);
  EXPECT_EQ(failure_in({[](Shared& s) {
              int expected = 1;
              s.flag.compare_exchange_weak(expected, 2, kAcqRel, kSeqCst);
            }}),
            FailureKind::kUnsupported);
}

// The protocols are noexcept everywhere: giving up an execution must not need exceptions.
TEST(Failures, noexcept_code_is_given_up_as_well) {
  const auto fails = [](Shared& s) noexcept {
    s.flag.fetch_add(1, kRelaxed);
    P::check(s.flag.load(kRelaxed) != 2, "", "the second one fails");
  };
  EXPECT_EQ(failure_in({fails, fails}), FailureKind::kCheck);
}

TEST(Failures, a_waiting_loop_is_cut_and_not_verified) {
  const std::vector<Scenario::Body> bodies{[](Shared& s) {
    while (s.flag.load(kRelaxed) == 0) {
    }
  }};
  ProgramOf<Scenario, std::vector<Scenario::Body>> program(1, bodies);
  const Result result = explore(program);
  EXPECT_TRUE(result.cut);
  EXPECT_FALSE(result.is_verified());
}

struct FailsAtTheEnds {
  explicit FailsAtTheEnds(bool at_first) { P::check(!at_first, "P2", "the set-up"); }
  void run(int) { flag.store(1, kRelaxed); }
  void finish() { P::check(flag.load(kRelaxed) == 0, "P2", "the finish"); }
  P::atomic<int> flag{0};
};

TEST(Failures, the_set_up_and_the_finish_are_checked_too) {
  for (bool at_first : {true, false}) {
    ProgramOf<FailsAtTheEnds, bool> program(2, at_first);
    const Result result = explore(program);
    ASSERT_TRUE(result.failure.has_value());
    EXPECT_EQ(result.failure->contract, "P2");
    EXPECT_EQ(result.failure->message, at_first ? "the set-up" : "the finish");
  }
}

}  // namespace
}  // namespace slotfuzz::interleave
