// Runs the two searches side by side.

#include "harness/interleave/explore/naive.h"

#include <functional>

#include "harness/interleave/explore/explore_depth.h"
#include "harness/interleave/explore/explore_graphs.h"
#include "harness/interleave/explore/naive_program.h"

namespace slotfuzz::interleave {

namespace {

// Runs until `next` reports the end.
Seen collect(ObservedProgram& program, Execution& execution, Scheduler& scheduler,
             uint64_t executions_max, const std::function<bool()>& is_new,
             const std::function<bool()>& next) {
  Seen seen;
  execution.model().keep_fingerprint(true);
  do {
    if (seen.executions == executions_max) {
      seen.cut = true;
      break;
    }
    ++seen.executions;
    const Execution::Ending ending = execution.run(program, scheduler);
    if (ending == Execution::Ending::kTooLong) seen.cut = true;
    const bool failed = ending == Execution::Ending::kFailed;
    if (failed) seen.failures.insert(execution.fault().kind);
    // A deadlock is a complete graph; any other failure stopped in the middle of a graph.
    if (failed && execution.fault().kind != FailureKind::kDeadlock) continue;
    if (!is_new()) continue;
    ++seen.graphs_met;
    seen.graphs.insert(execution.model().fingerprint());
    if (!failed) seen.outcomes.insert(program.outcome());
  } while (next());
  execution.model().keep_fingerprint(false);
  return seen;
}

std::string disagreement(const Seen& naive, const Seen& reduced) {
  if (naive.failures.contains(FailureKind::kRace) ||
      reduced.failures.contains(FailureKind::kRace)) {
    // After a race the executions may differ; it only matters that both searches find the race.
    return naive.failures.contains(FailureKind::kRace) ==
                   reduced.failures.contains(FailureKind::kRace)
               ? ""
               : "one of them finds no race";
  }
  if (naive.graphs != reduced.graphs) {
    return "graphs: " + std::to_string(naive.graphs.size()) + " and " +
           std::to_string(reduced.graphs.size());
  }
  if (naive.outcomes != reduced.outcomes) return "outcomes";
  if (naive.failures != reduced.failures) return "failures";
  if (reduced.graphs_met != reduced.graphs.size()) return "a graph was explored twice";
  return "";
}

}  // namespace

Seen every_interleaving(ObservedProgram& program, Execution& execution, uint64_t executions_max,
                        bool yields_on_plain) {
  DepthFirst scheduler(DepthFirst::kNoBound);
  scheduler.begin();
  execution.yield_on_plain(yields_on_plain);
  Seen seen = collect(
      program, execution, scheduler, executions_max, [] { return true; },
      [&] { return scheduler.next(); });
  execution.yield_on_plain(false);
  return seen;
}

Seen every_graph(ObservedProgram& program, Execution& execution, uint64_t executions_max) {
  GraphSearch search;
  return collect(
      program, execution, search, executions_max, [&] { return search.is_new_graph(); },
      [&] { return search.next(); });
}

Comparison compare_with_naive(uint64_t count, uint64_t seed, uint64_t interleavings_max, Mix mix) {
  Comparison comparison;
  Execution execution;
  Random random(seed);
  while (comparison.programs < count) {
    RandomProgram program(random, mix);
    const Seen naive = every_interleaving(program, execution, interleavings_max);
    if (naive.cut) {
      ++comparison.skipped;
      continue;
    }
    const Seen reduced = every_graph(program, execution, interleavings_max);
    ++comparison.programs;
    comparison.interleavings += naive.executions;
    comparison.executions += reduced.executions;
    comparison.graphs += reduced.graphs.size();
    if (!naive.failures.empty()) ++comparison.with_failure;
    if (program.has_conditions()) ++comparison.with_conditions;
    const std::string what = disagreement(naive, reduced);
    if (what.empty()) continue;
    comparison.mismatch = what + "\n" + program.text();
    return comparison;
  }
  return comparison;
}

}  // namespace slotfuzz::interleave
