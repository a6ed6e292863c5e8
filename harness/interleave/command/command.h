// The command-line tool in a protocol's target: what its flags ask for, as one JSON document.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/interleave/command/enumerate.h"
#include "harness/interleave/command/input.h"

namespace slotfuzz::interleave {

struct Command {
  bool wanted = false;  // some flag of ours was given
  bool describe = false;
  std::optional<Engine> engine;
  std::string threads;
  std::string shape;
  std::string programs;
  std::string schedule;
  uint64_t times = 1;
  std::optional<int> bound;
  std::optional<uint64_t> executions;
  double seconds = 0;
  uint64_t seed = 1;
  int every_program = 0;  // operations per thread
  std::string ops;
};

// Takes the arguments that begin with two dashes; libFuzzer's begin with one. Throws UsageError.
Command command_of(int argc, char** argv);

// Runs it and prints; returns the exit code. Throws UsageError.
int run_command(const Protocol& protocol, const Command& command);

}  // namespace slotfuzz::interleave
