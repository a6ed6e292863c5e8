// Engine E2: the threads of a program on fibres, as real code under the sanitizers, one execution
// for each schedule. Random schedules, those with few preemptions, all, or a given one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/interleave/explore/explore.h"
#include "harness/interleave/fibre/schedule.h"

namespace slotfuzz::interleave {

struct FibresFailure {
  std::string kind;
  std::string contract;  // as in Failure
  std::string message;
  Schedule schedule;  // normalised
  std::vector<TraceRow> trace;
};

struct FibresResult {
  uint64_t executions = 0;
  bool cut = false;  // the budget or the bound excluded schedules
  std::optional<int> bound;
  std::optional<FibresFailure> failure;
};

class FibresRun {
 public:
  struct Options {
    uint64_t executions_max = UINT64_MAX;
    double seconds_max = 0;  // 0: no limit
    int bound_max = INT32_MAX;
    uint64_t seed = 1;
  };

  // One run by these bytes. `taken`, if given, receives the normalised bytes.
  std::optional<FibresFailure> replay(Program& program, const Schedule& schedule,
                                      bool trace = false, Schedule* taken = nullptr);
  // Runs until a failure or the end of the budget. Minimizes a failure (minimized).
  FibresResult random(Program& program, const Options& options);
  // Every schedule with at most 0, 1, 2, ... nonzero bytes, so that the first failure has the
  // fewest. Covers everything when the bound excludes nothing.
  FibresResult bounded(Program& program, const Options& options);
  // Of the schedules that fail each time, the one with the fewest nonzero bytes, if the budget
  // allows to show that; else one of which no byte can be removed or set to 0. A schedule may fail
  // only sometimes, because ThreadSanitizer remembers four accesses of a word, and which ones
  // depends on earlier runs.
  FibresFailure minimized(Program& program, const FibresFailure& failure);

 private:
  enum class Depth { kCovered, kBounded, kOutOfBudget, kFailed };
  class Budget;

  template <class Run>
  std::optional<FibresFailure> execute(Program& program, const Run& run);
  std::optional<FibresFailure> judge(FibreScheduler::Ending ending, uint64_t reports_before);
  enum class Wanted { kAnyFailure, kFailsEachTime };
  Depth search(Program& program, int bound, Wanted wanted, Budget& budget, FibresResult* result);
  bool fails_each_time(Program& program, const Schedule& schedule);
  bool next_schedule(Schedule* schedule, int bound, bool* left_out) const;
  std::vector<TraceRow> rows() const;

  FibreScheduler scheduler_;
};

}  // namespace slotfuzz::interleave
