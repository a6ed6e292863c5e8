// Searches the executions of a program in the model: all of them, those with few preemptions and
// stale reads, random ones, or the one of a given schedule.
//
// Note [Schedules are bytes]
//   thread byte, read only when more than one thread is enabled: 0 keeps the thread that ran, k
//     takes the k-th enabled thread after it, counted round
//   store byte, read only when the operation may choose among several stores (a load or a
//     read-modify-write which it reads, a store which it goes behind): 0 the newest, k the k-th
//     older. Also at a wait: 1 wakes spuriously. At a notify_one of several waiting threads: k
//     wakes the one that waits k-th longest, from 0
//   after the last byte: 0
// A byte beyond the choices is taken modulo their number, so every string is a schedule. Normalised
// bytes are the choices that a run made, without the zeros at the end. All zeros is the sequential
// execution, in which the next thread follows a thread that cannot continue.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/interleave/model/model_run.h"

namespace slotfuzz::interleave {

using Schedule = std::vector<uint8_t>;

struct Failure {
  FailureKind kind;
  std::string contract;  // the number of the contract's sentence that a check names, or empty
  std::string message;
  Schedule schedule;  // normalised
  std::vector<TraceRow> trace;
};

enum class Mode {
  kExhaustive,  // every execution graph, by partial-order reduction
  kBounded,     // bound 0, 1, 2, ... on preemptions plus choices of an older store
  kRandom,
};

struct Options {
  Mode mode = Mode::kExhaustive;
  uint64_t executions_max = UINT64_MAX;
  double seconds_max = 0;  // 0: no limit
  int bound_max = INT32_MAX;
  uint64_t seed = 1;
};

struct Result {
  uint64_t executions = 0;
  uint64_t graphs = 0;  // exhaustive: distinct execution graphs, each of which was run once
  // The budget, the bound, or the length of an execution excluded something: without a failure the
  // result is not "verified".
  bool cut = false;
  std::optional<int> bound;  // bounded: the bound that found the failure, or covered everything
  std::optional<Failure> failure;

  bool is_verified() const { return !cut && !failure; }
};

// One run by the bytes of a schedule.
struct Replay {
  Schedule schedule;  // normalised
  bool cut = false;
  std::optional<Failure> failure;
  std::vector<TraceRow> trace;
  uint64_t fingerprint = 0;
};

// Stops at the first failure. A bounded search then continues at that bound to the shortest
// schedule. The Execution only lends its stacks and memory.
Result explore(Program& program, const Options& options, Execution& execution);
Result explore(Program& program, const Options& options = {});
// The schedule may come from anywhere. A trace makes the run several times slower.
Replay replay(Program& program, const Schedule& schedule, Execution& execution, bool trace = true);
Replay replay(Program& program, const Schedule& schedule);

std::string hex_of(const Schedule& schedule);
// nullopt if the text is not pairs of hexadecimal digits.
std::optional<Schedule> schedule_of(const std::string& hex);
std::string table_of(const std::vector<TraceRow>& trace);

}  // namespace slotfuzz::interleave
