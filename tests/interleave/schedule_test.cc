// Properties of engines E2 and E3: a schedule's bytes decide everything, runs leave no state
// behind, planted bugs are found and minimized, and the protocols of the core are clean.

#include "harness/interleave/fibre/schedule.h"

#include <gtest/gtest.h>

#include <random>

#include "harness/interleave/command/input.h"
#include "harness/interleave/compiled/fibres_run.h"
#include "harness/interleave/compiled/threads_run.h"
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

namespace slotfuzz::interleave {
namespace {

std::vector<Protocol> protocols() {
  return {protocol_of<ClaimScenario>(),       protocol_of<DisarmScenario>(),
          protocol_of<CountsScenario>(),      protocol_of<EndingScenario>(),
          protocol_of<AccumulatorScenario>(), protocol_of<GradientScenario>(),
          protocol_of<SavedScenario>(),       protocol_of<ReadyQueueScenario>(),
          protocol_of<CompletionScenario>(),  protocol_of<ContextScenario>()};
}

// A counter that is read and written in two steps; tests plant bugs in it.
struct Counting {
  bool is_locked;
  bool is_leaked;
  bool is_freed_twice;
};

struct CountingState {
  FibresPolicy::atomic<int> value{0};
  FibresPolicy::mutex mutex;
  int* object = nullptr;
};

class CountingProgram final : public Program {
 public:
  explicit CountingProgram(Counting counting) : counting_(counting) {}

  int threads() const override { return 2; }
  void set_up() override {
    state_.emplace();
    state_->object = FibresPolicy::make<int>(7);
  }
  void run(int thread) override {
    if (counting_.is_locked) state_->mutex.lock();
    FibresPolicy::begin_line(1);
    const int value = state_->value.load(std::memory_order_relaxed);
    FibresPolicy::begin_line(2);
    state_->value.store(value + 1, std::memory_order_relaxed);
    if (counting_.is_locked) state_->mutex.unlock();
    if (thread == 0 && counting_.is_freed_twice) FibresPolicy::destroy(state_->object);
  }
  void finish() override {
    FibresPolicy::check(state_->value.load(std::memory_order_relaxed) == 2, "P7",
                        "no count is lost");
    if (!counting_.is_leaked) FibresPolicy::destroy(state_->object);
  }
  void tear_down() override { state_.reset(); }

 private:
  Counting counting_;
  std::optional<CountingState> state_;
};

TEST(Schedule, a_lost_update_is_found_and_its_schedule_is_smallest) {
  CountingProgram program({.is_locked = false, .is_leaked = false, .is_freed_twice = false});
  FibresRun run;
  const FibresResult result = run.random(program, {.executions_max = 1000});
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->contract, "P7");
  EXPECT_EQ(result.failure->message, "no count is lost");
  // Thread 0 loads, thread 1 runs completely, thread 0 stores.
  EXPECT_EQ(result.failure->schedule, (Schedule{0, 1}));
  for (int i = 0; i < 100; ++i) {
    const auto again = run.replay(program, result.failure->schedule);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->schedule, result.failure->schedule);
    EXPECT_EQ(again->message, result.failure->message);
  }
  std::vector<std::pair<int, int>> lines;
  for (const TraceRow& row : result.failure->trace) lines.emplace_back(row.thread, row.line);
  const std::vector<std::pair<int, int>> wanted{{0, 1}, {1, 1}, {1, 2}, {0, 2}, {kNobody, 0}};
  EXPECT_EQ(lines, wanted);
}

TEST(Schedule, all_schedules_of_a_locked_counter_are_clean) {
  CountingProgram program({.is_locked = true, .is_leaked = false, .is_freed_twice = false});
  FibresRun run;
  const FibresResult result = run.bounded(program, {});
  EXPECT_FALSE(result.failure);
  EXPECT_FALSE(result.cut);
  EXPECT_EQ(result.executions, 3u);  // one for each first thread, and one for the bound 0
}

TEST(Schedule, a_bound_that_hides_schedules_says_cut) {
  CountingProgram program({.is_locked = true, .is_leaked = false, .is_freed_twice = false});
  FibresRun run;
  EXPECT_TRUE(run.bounded(program, {.bound_max = 0}).cut);
  EXPECT_TRUE(run.bounded(program, {.executions_max = 1}).cut);
}

TEST(Schedule, a_leak_and_a_second_free_are_found) {
  FibresRun run;
  CountingProgram leaks({.is_locked = true, .is_leaked = true, .is_freed_twice = false});
  auto failure = run.replay(leaks, {});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, "leak");
  CountingProgram frees({.is_locked = true, .is_leaked = false, .is_freed_twice = true});
  failure = run.replay(frees, {});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->message, "an object was freed twice");
}

class WaitingProgram final : public Program {
 public:
  int threads() const override { return 2; }
  void set_up() override { state_.emplace(); }
  void run(int thread) override {
    (*state_)[thread].lock();
    (*state_)[1 - thread].lock();
    (*state_)[1 - thread].unlock();
    (*state_)[thread].unlock();
  }
  void finish() override {}
  void tear_down() override { state_.reset(); }

 private:
  std::optional<std::array<FibresPolicy::mutex, 2>> state_;
};

TEST(Schedule, locks_taken_in_opposite_order_are_a_deadlock) {
  WaitingProgram program;
  FibresRun run;
  const FibresResult result = run.bounded(program, {});
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->kind, "deadlock");
  EXPECT_EQ(result.failure->schedule, (Schedule{0, 1}));
  EXPECT_FALSE(run.replay(program, {}));
}

Schedule random_bytes(std::mt19937_64* random, size_t size) {
  Schedule bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>((*random)());
  return bytes;
}

// As a fuzzer does: any bytes, each run three times, and their normalised form.
void expect_no_divergence(int rounds, uint64_t seed) {
  std::mt19937_64 random(seed);
  FibresRun run;
  Execution execution;
  for (const Protocol& protocol : protocols()) {
    for (int round = 0; round < rounds; ++round) {
      const Schedule bytes = random_bytes(&random, random() % 60);
      const Input input = input_of_bytes(protocol, bytes.data(), bytes.size());
      auto real = protocol.on_fibres(input.plan);
      auto model = protocol.in_model(input.plan);
      Schedule first;
      EXPECT_FALSE(run.replay(*real, input.schedule, false, &first));
      const Replay reference = replay(*model, input.schedule, execution, false);
      EXPECT_FALSE(reference.failure) << hex_of_run(protocol, Engine::kModel, input);
      for (const Schedule& schedule : {input.schedule, first}) {
        Schedule again;
        EXPECT_FALSE(run.replay(*real, schedule, false, &again));
        EXPECT_EQ(again, first);
      }
      for (const Schedule& schedule : {input.schedule, reference.schedule}) {
        const Replay again = replay(*model, schedule, execution, false);
        EXPECT_EQ(again.schedule, reference.schedule);
        EXPECT_EQ(again.fingerprint, reference.fingerprint);
      }
    }
  }
}

TEST(Input, any_bytes_run_the_same_each_time) { expect_no_divergence(300, 1); }

// Minutes: run by hand, with --gtest_also_run_disabled_tests.
TEST(Input, DISABLED_200000_byte_strings_run_the_same_each_time) {
  expect_no_divergence(200'000 / 3 + 1, 3);
}

TEST(Input, what_is_printed_is_read_back) {
  std::mt19937_64 random(2);
  for (const Protocol& protocol : protocols()) {
    for (int round = 0; round < 300; ++round) {
      const Schedule bytes = random_bytes(&random, random() % 60);
      const Input input = input_of_bytes(protocol, bytes.data(), bytes.size());
      const Schedule printed = bytes_of(input);
      const Input again = input_of_bytes(protocol, printed.data(), printed.size());
      EXPECT_EQ(again.plan, input.plan);
      EXPECT_EQ(again.schedule, input.schedule);
      const auto run = run_of_hex(protocol, hex_of_run(protocol, Engine::kModel, input));
      EXPECT_EQ(run.input.plan, input.plan);
      const char* shape = protocol.shapes[input.plan.shape].name;
      EXPECT_EQ(plan_of_programs(protocol, shape, programs_of(protocol, input.plan)), input.plan);
    }
  }
}

TEST(Input, bad_text_is_refused) {
  const Protocol claim = protocol_of<ClaimScenario>();
  const Protocol disarm = protocol_of<DisarmScenario>();
  const std::string good = hex_of_run(claim, Engine::kFibres, {claim.golden(2), {0, 1}});
  EXPECT_NO_THROW(run_of_hex(claim, good));
  EXPECT_THROW(run_of_hex(disarm, good), UsageError);
  EXPECT_THROW(run_of_hex(claim, good + "0"), UsageError);
  EXPECT_THROW(run_of_hex(claim, good + "0x"), UsageError);
  EXPECT_THROW(run_of_hex(claim, good + std::string(2 * kScheduleMax, '0')), UsageError);
  EXPECT_THROW(run_of_hex(claim, "c103"), UsageError);
  EXPECT_THROW(run_of_hex(claim, ""), UsageError);
  for (const char* threads : {"0", "100", "-1", "2x", ""}) {
    EXPECT_THROW(threads_of(claim, threads), UsageError) << threads;
  }
  EXPECT_THROW(plan_of_programs(claim, "alone", "wrap;wrop"), UsageError);
  EXPECT_THROW(plan_of_programs(claim, "anywhere", "wrap;wrap"), UsageError);
  EXPECT_THROW(plan_of_programs(claim, "", "die,die,die,die,die,die,die,die,die"), UsageError);
}

TEST(Engines, protocols_are_clean_on_fibres) {
  FibresRun run;
  for (const Protocol& protocol : protocols()) {
    auto program = protocol.on_fibres(protocol.golden(3));
    const FibresResult result = run.random(*program, {.executions_max = 5000});
    EXPECT_FALSE(result.failure) << protocol.name << ": " << result.failure->message;
    EXPECT_EQ(result.executions, 5000u);
  }
}

TEST(Engines, protocols_are_clean_on_threads) {
  for (const Protocol& protocol : protocols()) {
    for (const bool yields : {false, true}) {
      auto program = protocol.on_threads(protocol.golden(3));
      ThreadsRun run;
      const ThreadsRun::Result result =
          run.run(*program, {.executions_max = 500, .yields = yields});
      EXPECT_FALSE(result.failed) << protocol.name << ": " << result.message;
      EXPECT_EQ(result.executions, 500u);
    }
  }
}

}  // namespace
}  // namespace slotfuzz::interleave
