// The engine of one process: connects all stages for one subject and one target.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/engine/generate/mutate.h"
#include "harness/engine/judge/judge.h"
#include "harness/engine/run/late_imports.h"
#include "harness/engine/session/corpus_cache.h"
#include "harness/engine/session/recorder.h"
#include "harness/engine/session/suppressions.h"

namespace slotfuzz {

// A target's own check, besides the contract's: called after each program that ran.
using Postcondition = void (*)(const OpTable& table, const Program& program);

// Which ops are not masked, from what Interpreter::masked_ops() says.
std::vector<bool> unmasked(const std::vector<std::string>& masked);

struct SessionOptions {
  InterpreterOptions interpreter;
  // How often each theme is drawn.
  Weights weights = {.storage = 1};
  // The folder of the op table; if empty, the table that is compiled into the binary.
  std::string ops;
  // Null if the target has no check of its own.
  Postcondition postcondition = nullptr;
  // The file by which processes of one hunt tell each other what programs import, or empty.
  std::string imports;
  // A line that takes longer is reported as a hang.
  double line_seconds = kLineSecondsDefault;
};

struct Session {
  // Throws StartError or TableError.
  Session(const SessionOptions& options, std::span<std::uint8_t, kStateCounters> states);

  // Writes each later program to the file `recorder`, and skips programs that the folder
  // `suppressions` suppresses, also by files that come later. Programs of the corpus that the file
  // `loaded` knows do not run again. An empty path switches each off. Throws StartError.
  void start(const std::string& recorder, const std::string& suppressions,
             const std::string& loaded = "");
  // Runs a program without the lines whose op the subject lacks, or marks what it did when it was
  // loaded before. Returns false when a suppression matches the program, which then does not run.
  bool run(Program program);
  // The corpus is loaded: each later program runs. Returns how many have not, the first time.
  std::optional<std::uint64_t> end_of_corpus();
  // Whether the judge found something that no suppression matches.
  bool found() const;
  // Drops the lines whose op the subject lacks, and counts them.
  void mask(Program& program) const;

  const Weights weights;
  const double line_seconds;
  OpTable table;
  Printer printer{table};
  Interpreter interpreter;
  LateImports late_imports;
  Executor executor;
  Layout layout;
  Judge judge;
  // For each op, why it is masked, or an empty text.
  std::vector<std::string> masked;
  std::vector<bool> available;
  Vocabulary vocabulary;
  Raises raises{table};
  Deck deck{table, vocabulary};
  Mutator mutator{table, vocabulary, &raises, &deck};
  Postcondition postcondition;

 private:
  // Adds what has come to the folder of suppressions.
  void refresh_suppressions();

  Suppressions suppressions_{table};
  std::string suppressions_folder_;
  std::filesystem::file_time_type suppressions_time_;
  std::uint64_t programs_ = 0;
  std::optional<Recorder> recorder_;
  // Unset when the corpus is loaded.
  std::optional<CorpusCache> loaded_;
  std::uint64_t spared_ = 0;
  const std::span<std::uint8_t, kStateCounters> states_;
};

}  // namespace slotfuzz
