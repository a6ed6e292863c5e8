// The entry points of a protocol's target. The target is a libFuzzer binary. With one of the flags
// below it is the command-line tool that the driver calls, for the core as for each mutant.
//
//   --describe            prints operations, shapes and limits as JSON
//   --engine=NAME         model (every execution under the memory model), fibres (real code under
//                         the sanitizers, by schedule), threads, or yields (threads that yield)
//   --threads=N           runs the scenario behind the golden counts with N threads
//   --programs=A,B;C      or runs these operations per thread, --shape=NAME from this start
//   --schedule=HEX        or replays one run, as printed; --times=N repeats a run or a program
//   --bound=N             schedules with at most N preemptions and stale reads, fewest first
//   --executions=N, --seconds=N, --seed=N    budget; random for fibres and threads
//   --every-program=N     runs every program of N operations per thread, of --ops=A,B if given
// The tool prints one JSON document. Exit codes: 0 no failure, 1 failure, 2 bad flags.
//
// For the fuzzer, an input is thread programs and a schedule (input.h). The build's sanitizer
// watches the run on fibres; beside it the model explores schedules of the same programs.
#pragma once

#include <optional>

#include "harness/interleave/compiled/fibres_run.h"
#include "harness/interleave/command/input.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

class ProtocolTarget {
 public:
  explicit ProtocolTarget(Protocol protocol) : protocol_(std::move(protocol)) {}

  // Does not return if the arguments contain one of these flags.
  void initialize(int argc, char** argv);
  int test(const uint8_t* data, size_t size);

 private:
  Protocol protocol_;
  FibresRun fibres_;
  Execution execution_;
};

}  // namespace slotfuzz::interleave

#define SLOTFUZZ_PROTOCOL_TARGET(Scenario)                                  \
  static slotfuzz::interleave::ProtocolTarget target(                       \
      slotfuzz::interleave::protocol_of<slotfuzz::interleave::Scenario>()); \
  extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {            \
    target.initialize(*argc, *argv);                                        \
    return 0;                                                               \
  }                                                                         \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { \
    return target.test(data, size);                                         \
  }
