// The command-line tool in a protocol's target: runs what its flags ask for, and prints a JSON
// document.
#pragma once

#include "harness/interleave/command/flags.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

// Runs the command and prints its result; returns the exit code. Throws UsageError.
int run_command(const Protocol& protocol, const Command& command);

}  // namespace slotfuzz::interleave
