// The results of all engines in one structure, and its JSON document.

#include "harness/interleave/command/outcome.h"

#include <iostream>

#include "harness/interleave/command/symbols.h"

namespace slotfuzz::interleave {

using nlohmann::ordered_json;

namespace {

// A line with its position in the thread's program, as in `2 check`.
std::string line_text(const Protocol& protocol, const Plan& plan, const TraceRow& row) {
  if (row.line == 0) return "";
  return std::to_string(row.line) + " " + protocol.ops[plan.op(row.thread, row.line - 1)].name;
}

ordered_json table(const Protocol& protocol, const Plan& plan, std::vector<TraceRow> rows) {
  number_addresses(&rows);
  ordered_json result = ordered_json::array();
  for (const TraceRow& row : rows) {
    result.push_back({{"step", row.step},
                      {"thread", row.thread == kNobody ? ordered_json() : ordered_json(row.thread)},
                      {"line", line_text(protocol, plan, row)},
                      {"location", row.location},
                      {"operation", row.operation},
                      {"value", row.value},
                      {"stale", row.stale},
                      {"note", row.note}});
  }
  return result;
}
}  // namespace

Outcome outcome_of(const Result& result) {
  Outcome outcome{result.executions,    result.graphs, result.cut,
                  result.is_verified(), result.bound,  std::nullopt};
  if (result.failure) {
    outcome.found = {name_of(result.failure->kind), result.failure->contract,
                     result.failure->message, result.failure->schedule, result.failure->trace};
  }
  return outcome;
}

Outcome outcome_of(const FibresResult& result) {
  Outcome outcome{result.executions, std::nullopt, result.cut, false, result.bound, std::nullopt};
  if (result.failure) {
    outcome.found = {result.failure->kind, result.failure->contract, result.failure->message,
                     result.failure->schedule, result.failure->trace};
  }
  return outcome;
}

Outcome outcome_of(const ThreadsRun::Result& result) {
  Outcome outcome;
  outcome.executions = result.executions;
  if (result.failed)
    outcome.found = {result.kind, result.contract, result.message, std::nullopt, {}};
  return outcome;
}
void print(const ordered_json& document) {
  std::cout << document.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << std::endl;
}

ordered_json document_of(const Protocol& protocol, Engine engine, const Plan& plan,
                         const Outcome& outcome, double seconds) {
  ordered_json document = {
      {"protocol", protocol.name},
      {"engine", name_of(engine)},
      {"threads", plan.threads},
      {"shape", protocol.shapes[plan.shape].name},
      {"programs", programs_of(protocol, plan)},
      {"executions", outcome.executions},
      {"graphs", outcome.graphs ? ordered_json(*outcome.graphs) : ordered_json()},
      {"bound", outcome.bound ? ordered_json(*outcome.bound) : ordered_json()},
      {"seconds", seconds},
      {"verdict", outcome.found                              ? "failed"
                  : outcome.complete                         ? "verified"
                  : outcome.cut && engine == Engine::kModel  ? "cut"
                  : outcome.cut && outcome.bound.has_value() ? "cut"
                                                             : "clean"},
      {"failure", nullptr}};
  if (outcome.found) {
    const Found& found = *outcome.found;
    document["failure"] = {{"kind", found.kind},
                           {"contract", found.contract},
                           {"message", found.message},
                           {"table", table(protocol, plan, found.trace)}};
    if (found.schedule) {
      document["failure"]["schedule"] = hex_of_run(protocol, engine, {plan, *found.schedule});
      document["failure"]["schedule_bytes"] = hex_of(*found.schedule);
      document["failure"]["bytes"] = found.schedule->size();
    }
  }
  return document;
}

}  // namespace slotfuzz::interleave
