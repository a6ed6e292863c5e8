// Runs programs on fibres, judges each run, and searches for schedules that fail.

#include "harness/interleave/compiled/fibres_run.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace slotfuzz::interleave {

namespace {

constexpr uint64_t kMinimizeExecutionsMax = 50'000;
constexpr double kMinimizeSecondsMax = 5;
constexpr int kConfirmations = 100;  // how often a schedule must fail before it is reported
constexpr int kBytesMore = 2;        // a schedule that fails each time may need more than one found

FibresFailure failure_of(const char* kind, std::string message, std::string contract = "") {
  return {kind, std::move(contract), std::move(message), {}, {}};
}

// The parts of a program that the scheduler runs.
struct Parts {
  explicit Parts(Program& program)
      : body([&program](int thread) { program.run(thread); }),
        finish([&program] { program.finish(); }) {}
  const FibreScheduler::Body body;
  const FibreScheduler::Finish finish;
};

}  // namespace

class FibresRun::Budget {
 public:
  Budget(uint64_t executions, double seconds)
      : left_(executions), timed_(seconds > 0), end_(Steady::now()) {
    end_ += std::chrono::duration_cast<Steady::duration>(std::chrono::duration<double>(seconds));
  }
  // Takes one execution; false if no execution remains.
  bool take() {
    if (left_ == 0) return false;
    --left_;
    return !timed_ || (left_ & 63) != 0 || Steady::now() < end_;
  }

 private:
  using Steady = std::chrono::steady_clock;
  uint64_t left_;
  bool timed_;
  Steady::time_point end_;
};

template <class Run>
std::optional<FibresFailure> FibresRun::execute(Program& program, const Run& run) {
  const uint64_t reports_before = thread_reports();
  scheduler_.begin_observing();
  program.set_up();
  const FibreScheduler::Ending ending = run();
  std::optional<FibresFailure> failure = judge(ending, reports_before);
  program.tear_down();
  if (!failure && scheduler_.alive() > 0) {
    failure = failure_of("leak", "an object was never freed");
  }
  scheduler_.free_left();
  scheduler_.end_observing();
  return failure;
}

std::optional<FibresFailure> FibresRun::judge(FibreScheduler::Ending ending,
                                              uint64_t reports_before) {
  if (thread_reports() != reports_before) {
    return failure_of("race", "ThreadSanitizer's report is on stderr");
  }
  switch (ending) {
    case FibreScheduler::Ending::kFinished: return std::nullopt;
    case FibreScheduler::Ending::kStopped:
      return failure_of("check", scheduler_.message(), scheduler_.contract());
    case FibreScheduler::Ending::kDeadlock:
      return failure_of("deadlock", "every thread waits for another");
    case FibreScheduler::Ending::kTooLong:
      return failure_of("livelock", "a loop waits for what never comes");
  }
  return std::nullopt;
}

std::optional<FibresFailure> FibresRun::replay(Program& program, const Schedule& schedule,
                                               bool trace, Schedule* taken) {
  scheduler_.keep_events(trace);
  const Parts parts(program);
  auto failure = execute(program, [&] {
    return scheduler_.run(program.threads(), parts.body, schedule.data(), schedule.size(),
                          parts.finish);
  });
  scheduler_.keep_events(false);
  if (taken != nullptr) *taken = scheduler_.taken();
  if (failure) {
    failure->schedule = scheduler_.taken();
    if (trace) failure->trace = rows();
  }
  return failure;
}

FibresResult FibresRun::random(Program& program, const Options& options) {
  FibresResult result;
  result.cut = true;
  Budget budget(options.executions_max, options.seconds_max);
  const Parts parts(program);
  while (!result.failure && budget.take()) {
    // An odd number that differs in many bits from run to run.
    const uint64_t seed = (options.seed << 40) + result.executions * 2 + 1;
    ++result.executions;
    result.failure = execute(program, [&] {
      return scheduler_.run_random(program.threads(), parts.body, seed, parts.finish);
    });
    if (result.failure) result.failure->schedule = scheduler_.taken();
  }
  if (result.failure) result.failure = minimized(program, *result.failure);
  return result;
}

// The next schedule, where the last byte changes fastest. `left_out`: the bound excluded some.
bool FibresRun::next_schedule(Schedule* schedule, int bound, bool* left_out) const {
  const uint8_t* counts = scheduler_.choice_counts();
  schedule->resize(scheduler_.choices());
  int cost = static_cast<int>(
      std::count_if(schedule->begin(), schedule->end(), [](uint8_t byte) { return byte != 0; }));
  while (!schedule->empty()) {
    const size_t last = schedule->size() - 1;
    uint8_t& byte = schedule->back();
    if (byte + 1 < counts[last]) {
      if (byte != 0 || cost < bound) {
        ++byte;
        return true;
      }
      *left_out = true;
    }
    cost -= byte != 0;
    schedule->pop_back();
  }
  return false;
}

bool FibresRun::fails_each_time(Program& program, const Schedule& schedule) {
  for (int i = 0; i < kConfirmations; ++i) {
    if (!replay(program, schedule, true)) return false;  // as a user's replay does
  }
  return true;
}

FibresRun::Depth FibresRun::search(Program& program, int bound, Wanted wanted, Budget& budget,
                                   FibresResult* result) {
  const Parts parts(program);
  Schedule schedule;
  bool left_out = false;
  do {
    if (!budget.take()) return Depth::kOutOfBudget;
    ++result->executions;
    result->failure = execute(program, [&] {
      return scheduler_.run(program.threads(), parts.body, schedule.data(), schedule.size(),
                            parts.finish);
    });
    if (result->failure) {
      result->failure->schedule = scheduler_.taken();
      if (wanted == Wanted::kAnyFailure || fails_each_time(program, result->failure->schedule)) {
        return Depth::kFailed;
      }
      result->failure.reset();
    }
  } while (next_schedule(&schedule, bound, &left_out));
  return left_out ? Depth::kBounded : Depth::kCovered;
}

FibresResult FibresRun::bounded(Program& program, const Options& options) {
  FibresResult result;
  Budget budget(options.executions_max, options.seconds_max);
  for (int bound = 0; bound <= options.bound_max; ++bound) {
    const Depth depth = search(program, bound, Wanted::kAnyFailure, budget, &result);
    result.bound = bound;
    result.cut = depth != Depth::kCovered;
    if (depth != Depth::kBounded) break;
  }
  if (result.failure) {
    result.cut = false;
    result.failure =
        replay(program, Schedule(result.failure->schedule), true).value_or(*result.failure);
  }
  return result;
}

FibresFailure FibresRun::minimized(Program& program, const FibresFailure& failure) {
  FibresResult small;
  Budget budget(kMinimizeExecutionsMax, kMinimizeSecondsMax);
  const int bound_max = static_cast<int>(failure.schedule.size()) + kBytesMore;
  for (int bound = 0; bound <= bound_max; ++bound) {
    const Depth depth = search(program, bound, Wanted::kFailsEachTime, budget, &small);
    if (depth != Depth::kBounded) break;
  }
  Schedule best = small.failure ? small.failure->schedule : failure.schedule;
  const auto keep_if_failing = [&](Schedule tried) {
    auto found = replay(program, tried);
    // The schedule that was taken may be longer than the one that was tried, when a cut made
    // another thread continue.
    if (!found || found->schedule.size() > best.size() || found->schedule == best) return false;
    best = found->schedule;
    return true;
  };
  for (size_t i = 0; !small.failure && i < best.size(); ++i) {
    Schedule tried = best;
    tried[i] = 0;
    if (best[i] != 0) keep_if_failing(std::move(tried));
  }
  return replay(program, best, true).value_or(failure);
}

std::vector<TraceRow> FibresRun::rows() const {
  std::vector<TraceRow> rows;
  for (int i = 0; i < scheduler_.event_count(); ++i) {
    const FibreScheduler::Event& event = scheduler_.events()[i];
    const std::string location =
        event.name != nullptr ? event.name : "location " + std::to_string(event.number);
    char value[24];
    const char* format = event.value > UINT32_MAX ? "0x%llx" : "%llu";
    std::snprintf(value, sizeof value, format, static_cast<unsigned long long>(event.value));
    rows.push_back({static_cast<int>(rows.size()) + 1, event.thread, event.line, location,
                    event.operation, value, false, ""});
  }
  return rows;
}

}  // namespace slotfuzz::interleave
