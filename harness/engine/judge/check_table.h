// The table of checks: for each its sentence of the contract, its name, what it says, and the
// program by which `doctor` shows that it is awake. --describe, the planted bugs and the table in
// docs/contract.md come from it.
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
  // A line bound a normal wrapper of an impl that was known to live.
  kMet,
  // Finalizers have run, in a line or later.
  kFinalized,
  // Weak references have died in a line, while their impls live.
  kDied,
  // After each line.
  kLine,
  // After the reset: nothing is bound.
  kReset,
  // The ledger is settled.
  kLedger,
  // All is back.
  kEnd,
};
inline constexpr std::size_t kStages = 9;

// What a check may look at beside the tracker; null where the stage has none.
struct Moment {
  const Line* line = nullptr;
  PyObject* raised = nullptr;
  const Ledger* ledger = nullptr;
  const Ledger::Result* result = nullptr;
};

// Lines of a program; one that begins with '!' is Python that runs behind the judge's back.
struct PlantedProgram {
  std::string_view name;
  // What stands before the check's name in the verdict: that of another kind than storages.
  std::string_view prefix;
  std::string_view text;
  // Words of the verdict, if they do not follow from the check.
  std::string_view expect = "";
};

struct Check {
  // Empty where the verdict takes them from the line or the step that failed.
  std::string_view contract;
  std::string_view name;
  // What the verdict says, or what it is about.
  std::string_view text;
  std::vector<Stage> stages;
  void (Checks::*run)(const Check& check, const Moment& moment);
  std::vector<PlantedProgram> planted;
  // Why no program is planted.
  std::string_view unplanted = "";

  bool runs_at(Stage stage) const;
  // What a verdict on the planted program begins with.
  std::string expected(const PlantedProgram& program) const;
};

std::span<const Check> check_table();

}  // namespace slotfuzz
