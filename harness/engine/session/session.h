// One process's engine: all stages put together for one subject and one target.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harness/engine/judge/judge.h"
#include "harness/engine/session/suppressions.h"
#include "harness/engine/generate/mutate.h"
#include "harness/engine/session/recorder.h"

namespace slotfuzz {

// What a target adds to the contract's checks: called after each program that ran.
using Postcondition = void (*)(const OpTable& table, const Program& program);

struct SessionOptions {
  InterpreterOptions interpreter;
  // How often each theme is drawn.
  Weights weights = {.storage = 1};
  // The folder of the op table; empty: what is compiled into the binary.
  std::string ops;
  // Null: none.
  Postcondition postcondition = nullptr;
  // After so long a line is taken to hang.
  double line_seconds = kLineSecondsDefault;
};

struct Session {
  // Throws StartError or TableError.
  Session(const SessionOptions& options, std::span<std::uint8_t, kStateCounters> states);

  // Writes each program to `recorder` from now on, and passes over what the folder `known` has.
  // Either may be empty: none. Throws StartError.
  void start(const std::string& recorder, const std::string& known);
  // Runs a program, without the lines that the subject lacks an op for. False when it contains a
  // known finding and was not run.
  bool run(Program program);
  // Whether the judge found something that is not a known error.
  bool found() const;
  // Drops the lines whose op the subject lacks, and counts them.
  void mask(Program& program) const;

  const Weights weights;
  const double line_seconds;
  OpTable table;
  Printer printer{table};
  Interpreter interpreter;
  Executor executor;
  Layout layout;
  Judge judge;
  std::vector<bool> available;
  Vocabulary vocabulary;
  Raises raises{table};
  Mutator mutator{table, vocabulary, &raises};
  Postcondition postcondition;

 private:
  Known known_{table};
  std::optional<Recorder> recorder_;
};

}  // namespace slotfuzz
