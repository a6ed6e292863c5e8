// The table of checks. Each row has the contract sentence, the check's name, its message, and a
// program with which `doctor` tests that the check is on. --describe, the planted bugs and the
// table in docs/contract.md derive from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/engine/judge/ledger.h"
#include "harness/engine/language/program.h"

namespace slotfuzz {

class Checks;

// When a check runs, in the order of a run.
enum class Stage {
  // A line raised.
  kRaised,
  // A line asked for a wrapper in hermetic mode.
  kAsked,
  // A line bound a normal wrapper of an impl that the tracker follows.
  kMet,
  // Finalizers ran, in the line or since.
  kFinalized,
  // Weak references died in a line while their impls live.
  kDied,
  // After each line.
  kLine,
  // After the reset: no variable is bound.
  kReset,
  // The ledger has compared its counts.
  kLedger,
  // The ledger's counts equal those at the start.
  kEnd,
};
inline constexpr std::size_t kStages = 9;

// What a check may read besides the tracker; null if the stage lacks it.
struct Moment {
  const Line* line = nullptr;
  PyObject* raised = nullptr;
  const Ledger* ledger = nullptr;
  const Ledger::Result* result = nullptr;
};

// Lines of a program; a line that begins with '!' is Python that the judge does not observe.
struct PlantedProgram {
  std::string_view name;
  // Precedes the check's name in the verdict if the verdict is about another kind than storages.
  std::string_view prefix;
  std::string_view text;
  // Words of the verdict, if they do not follow from the check.
  std::string_view expect = "";
};

struct Check {
  // Empty if the verdict takes them from the failed line or step.
  std::string_view contract;
  std::string_view name;
  // The verdict's message, or its topic.
  std::string_view text;
  std::vector<Stage> stages;
  void (Checks::*run)(const Check& check, const Moment& moment);
  std::vector<PlantedProgram> planted;
  // Why no program is planted.
  std::string_view unplanted = "";
  // Effects that each program which breaks it has, because the check needs them: they tell no two
  // bugs apart.
  std::vector<Effect> implies = {};

  bool runs_at(Stage stage) const;
  // The beginning of the verdict on the planted program.
  std::string expected(const PlantedProgram& program) const;
};

std::span<const Check> check_table();

}  // namespace slotfuzz
