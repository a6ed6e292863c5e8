// The protocols of the core in the model: the known numbers of execution graphs, and every program
// of a size.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "harness/interleave/command/enumerate.h"
#include "harness/interleave/command/input.h"
#include "harness/interleave/explore/explore.h"
#include "harness/interleave/scenarios/scenario_accumulator.h"
#include "harness/interleave/scenarios/scenario_claim.h"
#include "harness/interleave/scenarios/scenario_completion.h"
#include "harness/interleave/scenarios/scenario_context.h"
#include "harness/interleave/scenarios/scenario_counts.h"
#include "harness/interleave/scenarios/scenario_disarm.h"
#include "harness/interleave/scenarios/scenario_ending.h"
#include "harness/interleave/scenarios/scenario_gradient.h"
#include "harness/interleave/scenarios/scenario_ready_queue.h"
#include "harness/interleave/scenarios/scenario_saved.h"
#include "tests/interleave/observed.h"

namespace slotfuzz::interleave {
namespace {

void expect_graphs(const Protocol& protocol, int threads, uint64_t graphs) {
  auto program = protocol.in_model(protocol.golden(threads));
  const Result result = explore(*program);
  EXPECT_TRUE(result.is_verified()) << protocol.name << " with " << threads << " threads";
  EXPECT_EQ(result.graphs, graphs) << protocol.name << " with " << threads << " threads";
}

TEST(Golden, claims_have_the_known_graphs) {
  const uint64_t graphs[] = {4, 12, 32, 80, 192, 448};
  for (int threads = 2; threads <= 7; ++threads) {
    expect_graphs(protocol_of<ClaimScenario>(), threads, graphs[threads - 2]);
  }
}

TEST(Golden, disarming_has_the_known_graphs) {
  const uint64_t graphs[] = {3, 11, 49, 261};
  for (int threads = 2; threads <= 5; ++threads) {
    expect_graphs(protocol_of<DisarmScenario>(), threads, graphs[threads - 2]);
  }
}

// The third number, 5,853,918, takes half a minute: bench/interleavings.py has it.
TEST(Golden, weak_locks_have_the_known_graphs) {
  expect_graphs(protocol_of<CountsScenario>(), 2, 8);
  expect_graphs(protocol_of<CountsScenario>(), 3, 1386);
}

TEST(Golden, the_protocols_of_threads_have_the_known_graphs) {
  expect_graphs(protocol_of<EndingScenario>(), 2, 6);
  expect_graphs(protocol_of<EndingScenario>(), 3, 150);
  expect_graphs(protocol_of<AccumulatorScenario>(), 2, 44);
  expect_graphs(protocol_of<AccumulatorScenario>(), 3, 25790);
  expect_graphs(protocol_of<GradientScenario>(), 2, 52);
  expect_graphs(protocol_of<SavedScenario>(), 3, 10);
  expect_graphs(protocol_of<SavedScenario>(), 4, 42);
  expect_graphs(protocol_of<ReadyQueueScenario>(), 3, 24);
  expect_graphs(protocol_of<ReadyQueueScenario>(), 4, 224);
  expect_graphs(protocol_of<CompletionScenario>(), 3, 39);
  expect_graphs(protocol_of<CompletionScenario>(), 4, 228);
  expect_graphs(protocol_of<ContextScenario>(), 2, 8);
  expect_graphs(protocol_of<ContextScenario>(), 3, 136);
}

constexpr uint64_t kNaiveMax = 300'000;

struct Small {
  Protocol protocol;
  const char* shape;
  const char* programs;
};

// The search must not be the source of the numbers that test it. The naive search, which tries
// every interleaving of every operation, finds the same graphs of the smaller programs.
TEST(Golden, the_naive_search_finds_the_same_graphs) {
  const Small smalls[] = {
      {protocol_of<EndingScenario>(), "references", "end;defer"},
      {protocol_of<EndingScenario>(), "references", "end;enter"},
      {protocol_of<EndingScenario>(), "references", "serve;defer"},
      {protocol_of<EndingScenario>(), "references", "serve;end"},
      {protocol_of<AccumulatorScenario>(), "known", "drop;get"},
      {protocol_of<AccumulatorScenario>(), "none", "get;get"},
      {protocol_of<GradientScenario>(), "none", "add;add"},
      {protocol_of<GradientScenario>(), "some", "add;take"},
      {protocol_of<GradientScenario>(), "none", "sum;add"},
      {protocol_of<SavedScenario>(), "node", "release;unpack"},
      {protocol_of<SavedScenario>(), "node", "release;unpack;unpack"},
      {protocol_of<ReadyQueueScenario>(), "empty", "end;serve"},
      {protocol_of<ReadyQueueScenario>(), "empty", "serve;push,end"},
      {protocol_of<ReadyQueueScenario>(), "one", "end;serve"},
      {protocol_of<CompletionScenario>(), "backward", "own;work"},
      {protocol_of<CompletionScenario>(), "backward", "own;fail"},
      {protocol_of<CompletionScenario>(), "backward", "own;add"},
      {protocol_of<ContextScenario>(), "graph", "drop;ask"},
      {protocol_of<ContextScenario>(), "graph", "drop,run;ask,drop"},
  };
  for (const Small& small : smalls) {
    auto program =
        small.protocol.in_model(plan_of_programs(small.protocol, small.shape, small.programs));
    Observed observed(*program);
    Execution execution;
    const Seen naive = every_interleaving(observed, execution, kNaiveMax, false);
    EXPECT_FALSE(naive.cut) << small.protocol.name << " " << small.programs;
    EXPECT_TRUE(naive.failures.empty());
    EXPECT_EQ(explore(*program, {}, execution).graphs, naive.graphs.size())
        << small.protocol.name << " " << small.programs;
  }
}

// With a sanitizer the model is several times slower, so one thread less runs the same code.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr int kThreads = 2;
#else
constexpr int kThreads = 3;
#endif

struct Space {
  const char* shape;
  const char* ops;       // the operations in the programs
  uint64_t programs[2];  // of 2 and of 3 threads, up to renaming of threads
  int length = 2;        // operations of a thread
  int threads = kThreads;
};

// All programs of threads of 2 operations, each under every schedule.
void expect_verified(const Protocol& protocol, const Space& wanted) {
  ProgramSpace space;
  const Plan ops = plan_of_programs(protocol, wanted.shape, std::string(wanted.ops) + ";;");
  space.threads = wanted.threads;
  space.length = wanted.length;
  space.shape = ops.shape;
  for (int i = 0; i < ops.lengths[0]; ++i) space.ops.push_back(ops.ops[0][i]);
  Execution execution;
  uint64_t executions = 0;
  const uint64_t programs = for_each_plan(protocol, space, [&](const Plan& plan) {
    auto program = protocol.in_model(plan);
    const Result result = explore(*program, {}, execution);
    executions += result.executions;
    EXPECT_TRUE(result.is_verified())
        << protocol.name << " from " << wanted.shape << ": " << programs_of(protocol, plan);
    return result.is_verified();
  });
  EXPECT_EQ(programs, wanted.programs[wanted.threads - 2])
      << protocol.name << " from " << wanted.shape;
  EXPECT_GE(executions, programs);
  std::printf("%s from %s, %s: %llu programs, %llu executions\n", protocol.name, wanted.shape,
              wanted.ops, static_cast<unsigned long long>(programs),
              static_cast<unsigned long long>(executions));
}

class EveryClaim : public testing::TestWithParam<Space> {};
class EveryDisarm : public testing::TestWithParam<Space> {};
class EveryCount : public testing::TestWithParam<Space> {};
class EveryEnding : public testing::TestWithParam<Space> {};
class EveryAccumulator : public testing::TestWithParam<Space> {};
class EveryGradient : public testing::TestWithParam<Space> {};
class EverySaved : public testing::TestWithParam<Space> {};
class EveryReadyQueue : public testing::TestWithParam<Space> {};
class EveryCompletion : public testing::TestWithParam<Space> {};
class EveryContext : public testing::TestWithParam<Space> {};

TEST_P(EveryClaim, is_right_under_every_schedule) {
  expect_verified(protocol_of<ClaimScenario>(), GetParam());
}
TEST_P(EveryDisarm, is_right_under_every_schedule) {
  expect_verified(protocol_of<DisarmScenario>(), GetParam());
}
TEST_P(EveryCount, is_right_under_every_schedule) {
  expect_verified(protocol_of<CountsScenario>(), GetParam());
}
TEST_P(EveryEnding, is_right_under_every_schedule) {
  expect_verified(protocol_of<EndingScenario>(), GetParam());
}
TEST_P(EveryAccumulator, is_right_under_every_schedule) {
  expect_verified(protocol_of<AccumulatorScenario>(), GetParam());
}
TEST_P(EveryGradient, is_right_under_every_schedule) {
  expect_verified(protocol_of<GradientScenario>(), GetParam());
}
TEST_P(EverySaved, is_right_under_every_schedule) {
  expect_verified(protocol_of<SavedScenario>(), GetParam());
}
TEST_P(EveryReadyQueue, is_right_under_every_schedule) {
  expect_verified(protocol_of<ReadyQueueScenario>(), GetParam());
}
TEST_P(EveryCompletion, is_right_under_every_schedule) {
  expect_verified(protocol_of<CompletionScenario>(), GetParam());
}
TEST_P(EveryContext, is_right_under_every_schedule) {
  expect_verified(protocol_of<ContextScenario>(), GetParam());
}

// With four operations a thread has 16 programs, so up to renaming there are 16 * 17 / 2 of two
// threads and 16 * 17 * 18 / 6 of three.
constexpr const char* kUse = "wrap,check,own,die";
constexpr const char* kHandOut = "wrap,check,publish,receive";
INSTANTIATE_TEST_SUITE_P(Programs, EveryClaim,
                         testing::Values(Space{"alone", kUse, {136, 816}},
                                         Space{"one", kUse, {136, 816}},
                                         Space{"two", kUse, {256, 2176}},
                                         Space{"alone", kHandOut, {220, 3532}},
                                         Space{"two", kHandOut, {256, 3772}}));
INSTANTIATE_TEST_SUITE_P(Programs, EveryDisarm,
                         testing::Values(Space{
                             "slots", "destruct,disarm,name,incref", {136, 816}}));
INSTANTIATE_TEST_SUITE_P(
    Programs, EveryCount,
    testing::Values(Space{"locks", "lock,decref,weak_drop,unwrap", {256, 2176}},
                    Space{"owners", "lock,decref,wrap,unwrap", {136, 816}},
                    Space{"owners", "incref,decref,wrap,unique", {136, 816}},
                    Space{"owners", "share,unshare,decref", {45, 165}},
                    Space{"wrapped", "decref,unwrap,lock,own", {136, 816}},
                    Space{"mixed", "lock,decref,unwrap,own", {256, 4096}},
                    Space{"bare", "decref,unique,lock,release", {136, 816}},
                    Space{"lent", "adopt,borrow,decref,lock", {256, 2176}}));

INSTANTIATE_TEST_SUITE_P(
    Programs, EveryEnding,
    testing::Values(Space{"references", "defer,enter,run,serve,end", {325, 0}, 2, 2},
                    Space{"references", "defer,enter,run,serve,end", {15, 35}, 1},
                    Space{"queued", "defer,enter,run,serve,end", {15, 35}, 1}));
INSTANTIATE_TEST_SUITE_P(Programs, EveryAccumulator,
                         testing::Values(Space{"none", "get,drop,use", {45, 0}, 2, 2},
                                         Space{"known", "get,drop,use", {9, 18}, 1}));
INSTANTIATE_TEST_SUITE_P(Programs, EveryGradient,
                         testing::Values(Space{"none", "add,take,read", {45, 0}, 2, 2},
                                         Space{"some", "add,take,read", {6, 10}, 1}));
INSTANTIATE_TEST_SUITE_P(Programs, EverySaved,
                         testing::Values(Space{"node", "unpack,release,use,drop", {136, 816}}));
INSTANTIATE_TEST_SUITE_P(Programs, EveryReadyQueue,
                         testing::Values(Space{"empty", "push,serve,end", {45, 165}},
                                         Space{"one", "push,serve,end", {45, 165}}));
INSTANTIATE_TEST_SUITE_P(Programs, EveryCompletion,
                         testing::Values(Space{"backward", "work,fail,add,own", {136, 0}, 2, 2},
                                         Space{"backward", "work,fail,add,own", {10, 20}, 1}));

// The program of thread 0 and those of the others, which are interchangeable.
INSTANTIATE_TEST_SUITE_P(Programs, EveryContext,
                         testing::Values(Space{"graph", "drop,ask,run", {81, 405}}));

// A borrower that has counted 1 to 2 has not yet taken the wrapper's reference. Until then it
// relies on the lender's reference, which the lender must not exchange for a strong one.
TEST(Programs, what_is_lent_is_kept_until_the_end) {
  const Protocol protocol = protocol_of<CountsScenario>();
  for (const char* programs : {"adopt,own,unwrap;borrow", "adopt,own,unwrap,decref;borrow,decref",
                               "wrap,decref,own,unwrap;borrow,decref"}) {
    auto program = protocol.in_model(plan_of_programs(protocol, "lent", programs));
    EXPECT_TRUE(explore(*program).is_verified()) << programs;
  }
}

TEST(Programs, renaming_alike_threads_gives_no_new_one) {
  const Protocol protocol = protocol_of<ClaimScenario>();
  ProgramSpace space{2, 1, 0, {}};
  std::vector<std::string> seen;
  for_each_plan(protocol, space, [&](const Plan& plan) {
    seen.push_back(programs_of(protocol, plan));
    return true;
  });
  const auto has = [&](const char* text) {
    return std::find(seen.begin(), seen.end(), text) != seen.end();
  };
  EXPECT_TRUE(has("wrap;check"));
  EXPECT_FALSE(has("check;wrap"));
  EXPECT_TRUE(has("publish;receive"));
  EXPECT_TRUE(has("receive;publish"));
}

}  // namespace
}  // namespace slotfuzz::interleave
