// What a target of a protocol consists of. It is a libFuzzer binary, and with a flag of its own it
// is the command-line tool that the driver calls, for the core as for each mutant.
//
//   --describe            operations, shapes and limits as JSON
//   --engine=NAME         model (every execution under the memory model), fibres (real code under
//                         the sanitizers, by schedule), threads, or yields (threads that yield)
//   --threads=N           the scenario behind the golden counts with N threads
//   --programs=A,B;C      or these operations per thread, --shape=NAME from this start
//   --schedule=HEX        or one run, as printed; --times=N repeats either
//   --bound=N             schedules with at most N preemptions and stale reads, fewest first
//   --executions=N, --seconds=N, --seed=N    budget; random for fibres and threads
//   --every-program=N     every program of N operations per thread, of --ops=A,B if given
// Prints one JSON document. Exit codes: 0 no failure, 1 failure, 2 bad flags.
//
// As a fuzzer, an input is thread programs and a schedule (input.h). The run on fibres is watched
// by the build's sanitizer; beside it the model explores schedules of the same programs.
#pragma once

#include <optional>

#include "harness/interleave/compiled/fibres_run.h"
#include "harness/interleave/command/input.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

class ProtocolTarget {
 public:
  explicit ProtocolTarget(Protocol protocol) : protocol_(std::move(protocol)) {}

  // Does not return if the arguments hold a flag of ours.
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
