// Schedules as bytes: how an execution reads them, and how to find the bytes of an execution.

#include "harness/interleave/explore/explore_bytes.h"

#include <algorithm>

#include "harness/engine/check.h"

namespace slotfuzz::interleave {

void ByteScheduler::begin() {
  taken_.clear();
  last_ = kNobody;
}

int ByteScheduler::ask(const Execution& execution, ChoiceKind kind, const int16_t* options,
                       int count) {
  if (count == 1) return 0;
  const int index = choose(execution, kind, options, count);
  taken_.push_back(static_cast<uint8_t>(index));
  return index;
}

int ByteScheduler::advance(Execution& execution) {
  int16_t enabled[kThreadsMax];
  int count = 0;
  const int threads = execution.thread_count();
  for (int i = 0; i < threads; ++i) {
    const int thread = ((last_ == kNobody ? 0 : last_) + i) % threads;
    if (execution.is_enabled(thread)) enabled[count++] = static_cast<int16_t>(thread);
  }
  if (count == 0) return kNobody;
  const ChoiceKind kind = enabled[0] == last_ ? ChoiceKind::kPreempt : ChoiceKind::kNext;
  const int thread = enabled[ask(execution, kind, enabled, count)];
  last_ = thread;
  Choices choices;
  execution.model().choices(thread, execution.pending(thread), 0, &choices);
  if (execution.model().is_full()) return kNobody;
  const int index = ask(execution, ChoiceKind::kStore, choices.ids, choices.count);
  return execution.perform(thread, choices.ids[index]);
}

int GivenScheduler::choose(const Execution&, ChoiceKind, const int16_t*, int count) {
  const size_t next = taken().size();
  return next < schedule_.size() ? schedule_[next] % count : 0;
}

int DecidedScheduler::choose(const Execution& execution, ChoiceKind kind, const int16_t* options,
                             int count) {
  const size_t step = execution.decisions().size();
  CHECK(step < decisions_.size(), "an execution went on further than its first time");
  const Decision& decision = decisions_[step];
  const int16_t wanted = kind == ChoiceKind::kStore ? decision.choice : decision.thread;
  const int16_t* found = std::find(options, options + count, wanted);
  CHECK(found != options + count, "an execution does not have the choice that it took");
  return static_cast<int>(found - options);
}

Schedule normalised(Schedule schedule) {
  while (!schedule.empty() && schedule.back() == 0) schedule.pop_back();
  return schedule;
}

Schedule schedule_of_last(Program& program, Execution& execution) {
  DecidedScheduler scheduler(execution.decisions());
  execution.run(program, scheduler);
  return normalised(scheduler.taken());
}

Replay replay(Program& program, const Schedule& schedule, Execution& execution, bool trace) {
  GivenScheduler scheduler(schedule);
  scheduler.begin();
  execution.keep_trace(trace);
  execution.model().keep_fingerprint(true);
  const Execution::Ending ending = execution.run(program, scheduler);
  execution.keep_trace(false);
  execution.model().keep_fingerprint(false);
  Replay result;
  result.schedule = normalised(scheduler.taken());
  result.cut = ending == Execution::Ending::kTooLong;
  result.trace = execution.trace();
  result.fingerprint = execution.model().fingerprint();
  if (ending == Execution::Ending::kFailed) {
    result.failure = Failure{execution.fault().kind, execution.fault().contract,
                             execution.fault().message, result.schedule, result.trace};
  }
  return result;
}

Replay replay(Program& program, const Schedule& schedule) {
  Execution execution;
  return replay(program, schedule, execution);
}

Failure failure_of(Program& program, Execution& execution, const Schedule& schedule) {
  Replay again = replay(program, schedule, execution);
  CHECK(again.failure.has_value(),
        "a failure was not there again; the program depends on more than the values that it reads");
  return *std::move(again.failure);
}

std::string hex_of(const Schedule& schedule) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (uint8_t byte : schedule) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::optional<Schedule> schedule_of(const std::string& hex) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  if (hex.size() % 2 != 0) return std::nullopt;
  Schedule schedule;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit(hex[i]);
    const int low = digit(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    schedule.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  return schedule;
}

std::string table_of(const std::vector<TraceRow>& trace) {
  std::vector<std::vector<std::string>> rows{
      {"step", "thread", "line", "location", "operation", "value", "stale", "note"}};
  for (const TraceRow& row : trace) {
    rows.push_back({row.step > 0 ? std::to_string(row.step) : "",
                    row.thread == kNobody ? "" : std::to_string(row.thread),
                    row.line > 0 ? std::to_string(row.line) : "", row.location, row.operation,
                    row.value, row.stale ? "stale" : "", row.note});
  }
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace slotfuzz::interleave
