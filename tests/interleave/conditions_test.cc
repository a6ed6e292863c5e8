// Condition variables in each engine: what a wait and a notification may do, and which mistakes of
// programs that use them are found.

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <ostream>

#include "harness/interleave/compiled/fibres_policy.h"
#include "harness/interleave/compiled/fibres_run.h"
#include "harness/interleave/compiled/threads_policy.h"
#include "tests/interleave/model_litmus.h"
#include "tests/interleave/observed.h"
#include "tests/interleave/waiting.h"

namespace slotfuzz::interleave {
namespace {

template <class P>
std::unique_ptr<Program> waiting(int waiters, WaitingFault fault = WaitingFault::kNone) {
  return std::make_unique<ProgramOf<Waiting<P>, int, WaitingFault>>(1 + waiters, waiters, fault);
}

// The first number by hand: the waiter comes late; it waits; it wakes spuriously, and waits again
// or not.
TEST(Conditions, waiting_has_the_graphs_that_the_naive_search_finds) {
  for (int waiters = 1; waiters <= 2; ++waiters) {
    auto program = waiting<ModelPolicy>(waiters);
    Observed observed(*program);
    Execution execution;
    const Seen naive = every_interleaving(observed, execution, 10'000'000);
    EXPECT_FALSE(naive.cut);
    EXPECT_TRUE(naive.failures.empty());
    const Result result = explore(*program, {}, execution);
    EXPECT_TRUE(result.is_verified());
    EXPECT_EQ(result.graphs, naive.graphs.size());
    EXPECT_EQ(result.graphs, waiters == 1 ? 4u : 66u);
  }
}

struct Mistake {
  const char* name;
  WaitingFault fault;
  int waiters;
  FailureKind kind;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

const Mistake kMistakes[] = {
    {"forgets_to_notify", WaitingFault::kForgetsToNotify, 1, FailureKind::kDeadlock},
    {"notifies_one_of_two", WaitingFault::kNotifiesOne, 2, FailureKind::kDeadlock},
    {"waits_once", WaitingFault::kWaitsOnce, 1, FailureKind::kCheck},
    {"stores_early", WaitingFault::kStoresEarly, 1, FailureKind::kDeadlock},
    {"writes_after", WaitingFault::kWritesAfter, 1, FailureKind::kRace},
    {"unlocks_twice", WaitingFault::kUnlocksTwice, 1, FailureKind::kMutexMisuse},
};

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, are_found_by_the_model_with_a_schedule_that_replays) {
  auto program = waiting<ModelPolicy>(GetParam().waiters, GetParam().fault);
  EXPECT_TRUE(explore(*program).failure);
  const Result small = explore(*program, {.mode = Mode::kBounded});
  ASSERT_TRUE(small.failure);
  EXPECT_EQ(small.failure->kind, GetParam().kind) << table_of(small.failure->trace);
  const Replay again = replay(*program, small.failure->schedule);
  ASSERT_TRUE(again.failure);
  EXPECT_EQ(table_of(again.trace), table_of(small.failure->trace));
}

TEST_P(Mistakes, of_a_wakeup_are_found_on_fibres) {
  if (GetParam().kind != FailureKind::kDeadlock && GetParam().kind != FailureKind::kCheck) return;
  auto program = waiting<FibresPolicy>(GetParam().waiters, GetParam().fault);
  FibresRun run;
  const FibresResult result = run.bounded(*program, {.bound_max = 2});
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->kind, name_of(GetParam().kind));
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(run.replay(*program, result.failure->schedule));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Mistakes, testing::ValuesIn(kMistakes),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Conditions, waiting_is_clean_on_fibres_under_every_schedule) {
  auto program = waiting<FibresPolicy>(1);
  FibresRun run;
  const FibresResult result = run.bounded(*program, {});
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_FALSE(result.cut);
  EXPECT_GT(result.executions, 10u);
}

TEST(Conditions, waiting_is_clean_on_threads) {
  for (const bool yields : {false, true}) {
    auto program = waiting<ThreadsPolicy>(3);
    ThreadsRun run;
    const ThreadsRun::Result result = run.run(*program, {.executions_max = 500, .yields = yields});
    EXPECT_FALSE(result.failed) << result.message;
    EXPECT_EQ(result.executions, 500u);
  }
}

TEST(Conditions, threads_that_all_wait_end_the_run) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        auto program = waiting<ThreadsPolicy>(2, WaitingFault::kForgetsToNotify);
        ThreadsRun run([](const ThreadsRun::Result& result) {
          std::fprintf(stderr, "%s: %s\n", result.kind.c_str(), result.message.c_str());
        });
        run.run(*program, {.executions_max = 100'000, .yields = true});
      },
      testing::ExitedWithCode(1), "deadlock: every thread waits for another");
}

// Waits without a reason, and writes down as which thread it woke.
Litmus::Body waits(int i) {
  return [i](Memory& m, int* r) {
    m.mutex.lock();
    m.condition.wait(m.mutex);
    r[i] = m.x.fetch_add(1, kRelaxed) + 1;
    m.condition.notify_one();
    m.mutex.unlock();
  };
}

// Either may wake first, by choice or spuriously. If nobody waits yet, the notification is lost,
// and the threads wait for ever.
TEST(Conditions, a_notification_wakes_any_waiting_thread) {
  const Seen seen =
      seen_by_both({2, {waits(0), waits(1), [](Memory& m, int*) { m.condition.notify_one(); }}});
  EXPECT_EQ(seen.outcomes, (Outcomes{12, 21}));
  EXPECT_EQ(seen.failures, (std::set{FailureKind::kDeadlock}));
}

// The mutex orders; the notification does not. A thread wakes spuriously once at most, so one that
// has waited twice was notified.
TEST(Conditions, a_notification_publishes_nothing) {
  const auto program = [](bool locks) {
    return Litmus{0,
                  {[](Memory& m, int*) {
                     m.mutex.lock();
                     m.condition.wait(m.mutex);
                     m.condition.wait(m.mutex);
                     m.data.load();
                     m.mutex.unlock();
                   },
                   [locks](Memory& m, int*) {
                     if (locks) m.mutex.lock();
                     m.data.store(1);
                     m.condition.notify_one();
                     if (locks) m.mutex.unlock();
                   }}};
  };
  EXPECT_TRUE(races(program(false)));
  EXPECT_FALSE(races(program(true)));
}

TEST(Conditions, a_condition_that_is_freed_under_a_notification_is_a_use_after_free) {
  struct Shared {
    P::mutex mutex;
    P::condition condition;
    P::atomic<int> done{0};
  };
  class Scenario {
   public:
    explicit Scenario(bool inside) : inside_(inside), shared_(P::make<Shared>()) {}
    void run(int thread) {
      shared_->mutex.lock();
      if (thread == 0) {
        while (shared_->done.load(kRelaxed) == 0) shared_->condition.wait(shared_->mutex);
        shared_->mutex.unlock();
        return P::destroy(shared_);
      }
      shared_->done.store(1, kRelaxed);
      P::condition& condition = shared_->condition;
      if (inside_) condition.notify_one();
      shared_->mutex.unlock();
      if (!inside_) condition.notify_one();
    }
    void finish() {}

   private:
    const bool inside_;
    Shared* shared_;
  };
  ProgramOf<Scenario, bool> outside(2, false);
  const Result result = explore(outside, {.mode = Mode::kBounded});
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->kind, FailureKind::kUseAfterFree);
  ProgramOf<Scenario, bool> inside(2, true);
  EXPECT_TRUE(explore(inside).is_verified());
}

}  // namespace
}  // namespace slotfuzz::interleave
