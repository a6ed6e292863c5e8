// The result of a run of any engine, and its JSON document.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/interleave/explore/explore.h"
#include "harness/interleave/compiled/fibres_run.h"
#include "harness/interleave/command/input.h"
#include "harness/interleave/compiled/threads_run.h"

namespace slotfuzz::interleave {

// What every engine reports about a failure.
struct Found {
  std::string kind;
  std::string contract;  // the number of the contract's sentence that a check names, or empty
  std::string message;
  std::optional<Schedule> schedule;  // none: it cannot be replayed
  std::vector<TraceRow> trace;
};

struct Outcome {
  uint64_t executions = 0;
  std::optional<uint64_t> graphs;
  bool cut = false;
  bool complete = false;  // everything was covered, under the memory model
  std::optional<int> bound;
  std::optional<Found> found;
};
Outcome outcome_of(const Result& result);
Outcome outcome_of(const FibresResult& result);
Outcome outcome_of(const ThreadsRun::Result& result);

nlohmann::ordered_json document_of(const Protocol& protocol, Engine engine, const Plan& plan,
                                   const Outcome& outcome, double seconds);
// One line on stdout.
void print(const nlohmann::ordered_json& document);

}  // namespace slotfuzz::interleave
