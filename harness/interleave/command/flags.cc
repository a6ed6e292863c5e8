// Reads a flag at a time; a number that is out of its range is the user's error.

#include "harness/interleave/command/flags.h"

#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

namespace {

constexpr uint64_t kTimesMax = 1'000'000;

template <class Number>
Number number_of(const std::string& name, const std::string& value, Number least, Number most) {
  try {
    size_t end = 0;
    const double number = std::stod(value, &end);
    if (end == value.size() && number >= static_cast<double>(least) &&
        number <= static_cast<double>(most)) {
      return static_cast<Number>(number);
    }
  } catch (const std::logic_error&) {  // not a number, or out of range: reported below
  }
  throw UsageError("--" + name + "=" + value + ": a number from " + std::to_string(least) + " to " +
                   std::to_string(most) + " is needed");
}

}  // namespace

Command command_of(int argc, char** argv) {
  Command command;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    // A fleet passes a bare "--" before libFuzzer's own flags.
    if (!argument.starts_with("--") || argument == "--") continue;
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    command.wanted = true;
    if (name == "describe") {
      command.describe = true;
    } else if (name == "engine") {
      command.engine = engine_of(value);
    } else if (name == "threads") {
      command.threads = value.empty() ? "none" : value;
    } else if (name == "shape") {
      command.shape = value;
    } else if (name == "programs") {
      command.programs = value;
    } else if (name == "schedule") {
      command.schedule = value.empty() ? "empty" : value;
    } else if (name == "times") {
      command.times = number_of<uint64_t>(name, value, 1, kTimesMax);
    } else if (name == "bound") {
      command.bound = number_of(name, value, 0, 1000);
    } else if (name == "executions") {
      command.executions = number_of<uint64_t>(name, value, 1, uint64_t{1} << 50);
    } else if (name == "seconds") {
      command.seconds = number_of(name, value, 0.001, 1e6);
    } else if (name == "seed") {
      command.seed = number_of<uint64_t>(name, value, 0, UINT32_MAX);
    } else if (name == "every-program") {
      command.every_program = number_of(name, value, 1, kOpsMax);
    } else if (name == "ops") {
      command.ops = value;
    } else {
      throw UsageError("no such flag: " + argument);
    }
  }
  return command;
}

}  // namespace slotfuzz::interleave
