// A function for each thing that the tool does, and the run of each engine.

#include "harness/interleave/command/command.h"

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/interleave/command/enumerate.h"
#include "harness/interleave/command/outcome.h"
#include "harness/interleave/explore/explore.h"

namespace slotfuzz::interleave {

namespace {

using nlohmann::ordered_json;

constexpr uint64_t kRandomExecutions = 10'000;  // if neither executions nor seconds are given

class Timer {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Outcome run_model(const Protocol& protocol, const Command& command, const Plan& plan) {
  Options options;
  if (command.bound) {
    options.mode = Mode::kBounded;
    options.bound_max = *command.bound;
  }
  options.executions_max = command.executions.value_or(UINT64_MAX);
  options.seconds_max = command.seconds;
  options.seed = command.seed;
  auto program = protocol.in_model(plan);
  Execution execution;
  Result result = explore(*program, options, execution);
  for (uint64_t i = 1; i < command.times && !result.failure; ++i) {
    const uint64_t executions = result.executions;
    result = explore(*program, options, execution);
    result.executions += executions;
  }
  if (result.failure && !command.bound) {
    // A search without a bound finds some failure first. The failure with the fewest preemptions
    // and stale reads is easier to read.
    Options smallest;
    smallest.mode = Mode::kBounded;
    Result small = explore(*program, smallest);
    if (small.failure) result.failure = small.failure;
    result.bound = small.bound;
  }
  return outcome_of(result);
}

Outcome run_fibres(const Protocol& protocol, const Command& command, const Plan& plan) {
  FibresRun::Options options;
  options.executions_max =
      command.executions.value_or(command.seconds > 0 ? UINT64_MAX : kRandomExecutions);
  options.seconds_max = command.seconds;
  options.seed = command.seed;
  auto program = protocol.on_fibres(plan);
  FibresRun run;
  if (!command.bound) return outcome_of(run.random(*program, options));
  options.bound_max = *command.bound;
  options.executions_max = command.executions.value_or(UINT64_MAX);
  return outcome_of(run.bounded(*program, options));
}

Outcome run_threads(const Protocol& protocol, const Command& command, const Plan& plan,
                    Engine engine, const Timer& timer) {
  ThreadsRun run([&](const ThreadsRun::Result& result) {
    print(document_of(protocol, engine, plan, outcome_of(result), timer.seconds()));
    std::fflush(stdout);
    std::_Exit(1);
  });
  ThreadsRun::Options options;
  options.executions_max =
      command.executions.value_or(command.seconds > 0 ? UINT64_MAX : kRandomExecutions);
  options.seconds_max = command.seconds;
  options.seed = command.seed;
  options.yields = engine == Engine::kYields;
  auto program = protocol.on_threads(plan);
  return outcome_of(run.run(*program, options));
}

Outcome run_engine(const Protocol& protocol, const Command& command, const Plan& plan,
                   Engine engine, const Timer& timer) {
  switch (engine) {
    case Engine::kModel: return run_model(protocol, command, plan);
    case Engine::kFibres: return run_fibres(protocol, command, plan);
    case Engine::kThreads:
    case Engine::kYields: return run_threads(protocol, command, plan, engine, timer);
  }
  return {};
}

Plan plan_of(const Protocol& protocol, const Command& command) {
  if (!command.programs.empty()) {
    const Plan plan = plan_of_programs(protocol, command.shape, command.programs);
    if (!command.threads.empty() && threads_of(protocol, command.threads) != plan.threads) {
      throw UsageError("--threads=" + command.threads + ", but --programs has " +
                       std::to_string(plan.threads));
    }
    return plan;
  }
  if (!command.shape.empty()) throw UsageError("--shape needs --programs");
  const std::string threads = command.threads.empty()
                                  ? std::to_string(std::max(2, protocol.threads_least))
                                  : command.threads;
  return protocol.golden(threads_of(protocol, threads));
}

// Runs one schedule, as often as requested.
int replay_command(const Protocol& protocol, const Command& command) {
  const Run given = run_of_hex(protocol, command.schedule);
  const Plan& plan = given.input.plan;
  if (command.engine && *command.engine != given.engine) {
    throw UsageError(std::string("--schedule: it is for the engine ") + name_of(given.engine) +
                     ", not for " + name_of(*command.engine));
  }
  if (!command.threads.empty() && threads_of(protocol, command.threads) != plan.threads) {
    throw UsageError("--schedule: it is for " + std::to_string(plan.threads) +
                     " threads, not for " + command.threads);
  }
  const Timer timer;
  auto model = protocol.in_model(plan);
  auto real = protocol.on_fibres(plan);
  FibresRun fibres;
  Execution execution;
  Outcome outcome;
  uint64_t failures = 0;
  Schedule taken;
  for (uint64_t i = 0; i < command.times; ++i) {
    std::optional<Found> found;
    ++outcome.executions;
    if (given.engine == Engine::kModel) {
      Replay run = replay(*model, given.input.schedule, execution, true);
      taken = run.schedule;
      outcome.cut = run.cut;
      if (run.failure) {
        found = {name_of(run.failure->kind), run.failure->contract, run.failure->message,
                 run.schedule, run.failure->trace};
      }
    } else if (auto failure = fibres.replay(*real, given.input.schedule, true, &taken)) {
      found = {failure->kind, failure->contract, failure->message, failure->schedule,
               failure->trace};
    }
    failures += found.has_value();
    if (found) outcome.found = std::move(found);
  }
  ordered_json document = document_of(protocol, given.engine, plan, outcome, timer.seconds());
  if (!outcome.found && !outcome.cut) document["verdict"] = "clean";
  document["schedule"] = hex_of_run(protocol, given.engine, {plan, taken});
  document["times"] = command.times;
  document["failures"] = failures;
  print(document);
  return outcome.found ? 1 : 0;
}

// Runs every program of a size, each under every schedule of the model.
int every_program_command(const Protocol& protocol, const Command& command) {
  ProgramSpace space;
  space.length = command.every_program;
  space.threads = threads_of(protocol, command.threads.empty() ? "3" : command.threads);
  space.shape =
      plan_of_programs(protocol, command.shape, std::string(space.threads - 1, ';')).shape;
  if (!command.ops.empty()) {
    std::string word;
    for (const char c : command.ops + ",") {
      if (c != ',') {
        word += c;
        continue;
      }
      const std::string one = word + std::string(protocol.threads_least - 1, ';');
      space.ops.push_back(plan_of_programs(protocol, "", one).ops[0][0]);
      word.clear();
    }
  }
  const Timer timer;
  uint64_t executions = 0;
  uint64_t graphs = 0;
  uint64_t cut = 0;
  std::optional<ordered_json> failed;
  const uint64_t programs = for_each_plan(protocol, space, [&](const Plan& plan) {
    const Outcome outcome = run_model(protocol, command, plan);
    executions += outcome.executions;
    graphs += outcome.graphs.value_or(0);
    cut += outcome.cut;
    if (outcome.found) {
      failed = document_of(protocol, Engine::kModel, plan, outcome, timer.seconds());
    }
    return !outcome.found;
  });
  print({{"protocol", protocol.name},
         {"engine", "model"},
         {"threads", space.threads},
         {"operations", space.length},
         {"shape", protocol.shapes[space.shape].name},
         {"every_program", programs},
         {"executions", executions},
         {"graphs", graphs},
         {"cut_programs", cut},
         {"seconds", timer.seconds()},
         {"verdict", failed    ? "failed"
                     : cut > 0 ? "cut"
                               : "verified"},
         {"failed", failed.value_or(nullptr)}});
  return failed ? 1 : 0;
}

int describe_command(const Protocol& protocol) {
  const auto named = [](const std::vector<Named>& table) {
    ordered_json result = ordered_json::array();
    for (const Named& row : table) {
      result.push_back({{"name", row.name}, {"sentence", row.sentence}});
    }
    return result;
  };
  print({{"protocol", protocol.name},
         {"sentence", protocol.sentence},
         {"threads_least", protocol.threads_least},
         {"threads_most", kThreadsMax},
         {"operations_most", kOpsMax},
         {"ops", named(protocol.ops)},
         {"shapes", named(protocol.shapes)}});
  return 0;
}

}  // namespace

int run_command(const Protocol& protocol, const Command& command) {
  if (command.describe) return describe_command(protocol);
  if (!command.schedule.empty()) return replay_command(protocol, command);
  if (command.every_program > 0) return every_program_command(protocol, command);
  const Plan plan = plan_of(protocol, command);
  const Engine engine = command.engine.value_or(Engine::kModel);
  const Timer timer;
  const Outcome outcome = run_engine(protocol, command, plan, engine, timer);
  print(document_of(protocol, engine, plan, outcome, timer.seconds()));
  return outcome.found ? 1 : 0;
}

}  // namespace slotfuzz::interleave
