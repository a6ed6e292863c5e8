// A libFuzzer target: a session, and libFuzzer's four entry points. A file in targets/ defines them
// with SLOTFUZZ_TARGET, which contains the only global of the harness.
//
// A target takes libFuzzer's own flags and corpus folders. Flags of the engine begin with two
// dashes, and libFuzzer ignores them:
//   --module=NAME     the module under test: slotcore (default) or torch
//   --path=DIR        one more folder for sys.path; may be repeated
//   --snippets=TEXT   snippets that are added to the prelude
//   --ops=DIR         the op table's files, in place of those that are compiled in
//   --recorder=FILE   write each program to this flight recorder before it runs
//   --suppressions=DIR  do not run programs that one of these suppresses
//   --loaded=FILE     do not run programs of the corpus that another process has loaded: FILE has
//                     what they did, and gets what the others do
//   --imports=FILE    before each fork, import the modules that programs of other processes import;
//                     they write the names to this file
//   --line-seconds=N  a line that takes longer hangs: report the stacks of all threads, and end
//   --serve           be the driver's fork server
//   --spawn           fork a fuzzing process for each request on stdin
//   --describe        print op table, kinds, prelude and planted bugs as JSON
//   --measure         print where the time of this target's programs goes, as JSON
//   --planted=NAME    run one planted bug
//   --dump-recorder=FILE  print a recorder's programs as JSON
#pragma once

#include "harness/engine/session/session.h"

namespace slotfuzz {

class Target {
 public:
  Target(const char* name, Postcondition postcondition, Weights weights = {.storage = 1})
      : name_(name), postcondition_(postcondition), weights_(weights) {}

  // May replace libFuzzer's command line.
  void initialize(int* argc, char*** argv);
  int test(std::string_view text);
  std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t size_max, unsigned seed);
  std::size_t cross(std::string_view first, std::string_view second, std::uint8_t* out,
                    std::size_t size_max, unsigned seed);

 private:
  // Called for each mutation: libFuzzer has loaded the corpus before the first.
  void end_of_corpus();
  std::size_t put(const Program& program, std::uint8_t* out, std::size_t size_max);

  const char* name_;
  Postcondition postcondition_;
  Weights weights_;
  std::optional<Session> session_;
  // The command line, and the part of it that libFuzzer gets.
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

// Bytes that libFuzzer reads as coverage; libFuzzer needs them in a separate section.
std::span<std::uint8_t, kStateCounters> state_counters();

}  // namespace slotfuzz

#define SLOTFUZZ_TARGET(...)                                                                 \
  static slotfuzz::Target target(__VA_ARGS__);                                               \
  extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {                             \
    target.initialize(argc, argv);                                                           \
    return 0;                                                                                \
  }                                                                                          \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {        \
    return target.test({reinterpret_cast<const char*>(data), size});                         \
  }                                                                                          \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,       \
                                                 std::size_t size_max, unsigned seed) {      \
    return target.mutate(data, size, size_max, seed);                                        \
  }                                                                                          \
  extern "C" std::size_t LLVMFuzzerCustomCrossOver(                                          \
      const std::uint8_t* first, std::size_t first_size, const std::uint8_t* second,         \
      std::size_t second_size, std::uint8_t* out, std::size_t size_max, unsigned seed) {     \
    return target.cross({reinterpret_cast<const char*>(first), first_size},                  \
                        {reinterpret_cast<const char*>(second), second_size}, out, size_max, \
                        seed);                                                               \
  }
