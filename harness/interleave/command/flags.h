// The flags of the command-line tool as values. entry.h lists the flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/interleave/command/input.h"

namespace slotfuzz::interleave {

struct Command {
  bool wanted = false;  // the arguments contain one of these flags
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

// Parses the arguments that begin with two dashes; libFuzzer's begin with one. Throws UsageError.
Command command_of(int argc, char** argv);

}  // namespace slotfuzz::interleave
