// Schedules as bytes: every string is one, normalised bytes replay it, a bounded search gives the
// smallest, and a search that was stopped reports it.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "harness/interleave/command/input.h"
#include "harness/interleave/explore/explore.h"
#include "harness/interleave/explore/naive_program.h"
#include "harness/interleave/scenarios/scenario_claim.h"
#include "harness/interleave/scenarios/scenario_disarm.h"
#include "tests/interleave/model_claim.h"
#include "tests/interleave/model_weak_lock.h"

namespace slotfuzz::interleave {
namespace {

Schedule random_schedule(Random& random, int length_max) {
  Schedule schedule(static_cast<size_t>(random.below(length_max + 1)));
  for (uint8_t& byte : schedule) byte = static_cast<uint8_t>(random.next());
  return schedule;
}

bool same(const Replay& a, const Replay& b) {
  return a.schedule == b.schedule && a.fingerprint == b.fingerprint &&
         a.failure.has_value() == b.failure.has_value() && a.cut == b.cut;
}

TEST(Schedule, any_bytes_run_and_their_normal_form_runs_the_same) {
  Random random(1);
  Execution execution;
  std::set<uint64_t> graphs;
  for (int i = 0; i < 200; ++i) {
    RandomProgram program(random);
    for (int j = 0; j < 10; ++j) {
      const Schedule schedule = random_schedule(random, 40);
      const Replay first = replay(program, schedule, execution, false);
      EXPECT_FALSE(first.cut);
      EXPECT_TRUE(first.schedule.empty() || first.schedule.back() != 0);
      EXPECT_LE(first.schedule.size(), schedule.size());
      EXPECT_TRUE(same(first, replay(program, first.schedule, execution, false)));
      EXPECT_TRUE(same(first, replay(program, schedule, execution, true)));
      graphs.insert(first.fingerprint);
    }
  }
  EXPECT_GT(graphs.size(), 500u);
}

TEST(Schedule, zeros_are_one_thread_after_the_other_without_stale_reads) {
  ProgramOf<WeakLock<ModelPolicy>, int> program(3, 2);
  for (const Schedule& schedule : {Schedule{}, Schedule(100, 0)}) {
    const Replay run = replay(program, schedule);
    EXPECT_TRUE(run.schedule.empty());
    EXPECT_FALSE(run.failure);
    EXPECT_GT(run.trace.size(), 10u);
    EXPECT_TRUE(
        std::is_sorted(run.trace.begin(), run.trace.end(),
                       [](const TraceRow& a, const TraceRow& b) { return a.thread < b.thread; }));
    EXPECT_TRUE(std::none_of(run.trace.begin(), run.trace.end(),
                             [](const TraceRow& row) { return row.stale; }));
  }
}

TEST(Schedule, the_first_byte_says_who_begins) {
  ProgramOf<Claim<ModelPolicy>, int> program(3, 3);
  for (uint8_t first : {0, 1, 2, 3, 4, 5}) {
    const Replay run = replay(program, {first});
    const auto step = std::find_if(run.trace.begin(), run.trace.end(),
                                   [](const TraceRow& row) { return row.step == 1; });
    ASSERT_NE(step, run.trace.end());
    EXPECT_EQ(step->thread, first % 3);
  }
}

TEST(Schedule, hexadecimal_text_goes_there_and_back) {
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    const Schedule schedule = random_schedule(random, 20);
    EXPECT_EQ(schedule_of(hex_of(schedule)), schedule);
  }
  EXPECT_EQ(schedule_of("0aFf"), (Schedule{0x0a, 0xff}));
  EXPECT_EQ(schedule_of("0"), std::nullopt);
  EXPECT_EQ(schedule_of("0g"), std::nullopt);
  EXPECT_EQ(schedule_of(" 0"), std::nullopt);
}

// Two threads add one by load and store: with one preemption an addition is lost, without it not.
struct LostAddition {
  void run(int) { x.store(x.load(kRelaxed) + 1, kRelaxed); }
  void finish() { ModelPolicy::check(x.load(kRelaxed) == 2, "", "both additions are there"); }
  ModelPolicy::atomic<int> x{0};
};

TEST(Schedule, a_bounded_search_finds_the_fewest_preemptions_and_stale_reads) {
  ProgramOf<LostAddition> program(2);
  const Result result = explore(program, {.mode = Mode::kBounded});
  ASSERT_TRUE(result.failure.has_value());
  EXPECT_EQ(result.bound, 1);
  // One byte: a stale read by the second thread needs three choices before it; a preemption after
  // the first operation needs two, of which the first is 0.
  EXPECT_LE(result.failure->schedule.size(), 3u);
  const Result none = explore(program, {.mode = Mode::kBounded, .bound_max = 0});
  EXPECT_FALSE(none.failure);
  EXPECT_TRUE(none.cut);
}

TEST(Schedule, a_bounded_search_that_left_nothing_out_has_verified) {
  ProgramOf<Claim<ModelPolicy>, int> program(2, 2);
  const Result result = explore(program, {.mode = Mode::kBounded});
  EXPECT_TRUE(result.is_verified());
  EXPECT_GT(*result.bound, 1);
}

TEST(Schedule, a_budget_that_stops_a_search_is_said) {
  ProgramOf<WeakLock<ModelPolicy>, int> program(3, 2);
  for (Mode mode : {Mode::kExhaustive, Mode::kBounded, Mode::kRandom}) {
    const Result result = explore(program, {.mode = mode, .executions_max = 100});
    EXPECT_EQ(result.executions, 100u);
    EXPECT_TRUE(result.cut);
    EXPECT_FALSE(result.is_verified());
  }
  EXPECT_TRUE(explore(program, {.seconds_max = 1e-9}).cut);
}

TEST(Schedule, random_runs_differ_by_seed_only) {
  ProgramOf<LostAddition> program(2);
  const Options options{.mode = Mode::kRandom, .executions_max = 1000, .seed = 3};
  const Result once = explore(program, options);
  const Result again = explore(program, options);
  ASSERT_TRUE(once.failure && again.failure);
  EXPECT_EQ(once.executions, again.executions);
  EXPECT_EQ(once.failure->schedule, again.failure->schedule);
}

TEST(Schedule, a_trace_has_names_and_no_addresses) {
  ProgramOf<Claim<ModelPolicy>, int> program(2, 2);
  const std::string table = table_of(replay(program, {0, 1}).trace);
  EXPECT_NE(table.find("compare_exchange acq_rel"), std::string::npos) << table;
  EXPECT_NE(table.find("tag"), std::string::npos) << table;
  EXPECT_EQ(table.find("0x"), std::string::npos) << table;
}

// For each thread that runs, the trace has its lines in order; the set-up and the end have no line.
void expect_lines(const std::vector<TraceRow>& trace, int threads, int lines) {
  for (int thread = 0; thread < threads; ++thread) {
    std::vector<int> seen;
    for (const TraceRow& row : trace) {
      if (row.thread == thread && (seen.empty() || seen.back() != row.line)) {
        seen.push_back(row.line);
      }
    }
    std::vector<int> wanted(lines);
    std::iota(wanted.begin(), wanted.end(), 1);
    EXPECT_EQ(seen, wanted) << "thread " << thread << "\n" << table_of(trace);
  }
  for (const TraceRow& row : trace) EXPECT_TRUE(row.thread != kNobody || row.line == 0);
}

TEST(Schedule, a_printed_run_tells_the_line_of_each_step) {
  const Protocol claim = protocol_of<ClaimScenario>();
  const Plan plan = plan_of_programs(claim, "one", "wrap,own,check;check,wrap,die");
  auto in_model = claim.in_model(plan);
  expect_lines(replay(*in_model, {0, 1, 1, 1, 1}).trace, 2, 3);
  const Protocol disarm = protocol_of<DisarmScenario>();
  auto golden = disarm.in_model(disarm.golden(3));
  expect_lines(replay(*golden, {1, 1, 1}).trace, 3, 1);
}

}  // namespace
}  // namespace slotfuzz::interleave
