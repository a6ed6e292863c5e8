// The checks: each compares what the tracker and the ledger know with a contract sentence
// (contract.md). check_table.h lists them.
//
// A report is certain, and Python can show it: a verdict has `assert` lines. The first verdict
// stands and the program goes on: if a broken promise becomes a crash, the user wants to see the
// crash.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "harness/engine/judge/check_table.h"
#include "harness/engine/judge/ledger.h"
#include "harness/engine/judge/tracker.h"
#include "harness/engine/judge/verdict.h"

namespace slotfuzz {

class Checks {
 public:
  Checks(const Interpreter& interpreter, const Executor& executor, const OpTable& table,
         const Layout& layout, const Capabilities& capabilities, const Tracker& tracker);

  const Verdict& verdict() const { return verdict_; }
  // Clears what the former program left.
  void start() {
    verdict_ = Verdict();
    collections_ = Ledger::kIdleCollections;
  }
  // Runs the checks of a stage in the order of the table, up to the first that reports.
  void run(Stage stage, const Moment& moment = {});

  // The functions of the table. For lines that raised:
  void exit_hermetic(const Check& check, const Moment& moment);
  void exception(const Check& check, const Moment& moment);
  bool must_not_raise(const Op& op, const Line& line, PyObject* raised) const;
  bool makes_from_values(const Op& op, const Line& line) const;
  // For all lines:
  void fresh(const Check& check, const Moment& moment);
  void base_class(const Check& check, const Moment& moment);
  void identity(const Check& check, const Moment& moment);
  void type(const Check& check, const Moment& moment);
  void attributes(const Check& check, const Moment& moment);
  void finalized_twice(const Check& check, const Moment& moment);
  void finalized_early(const Check& check, const Moment& moment);
  void weakref(const Check& check, const Moment& moment);
  void use_count(const Check& check, const Moment& moment);
  void unraisable(const Check& check, const Moment& moment);
  // For the end:
  void reset(const Check& check, const Moment& moment);
  void hermetic_mode(const Check& check, const Moment& moment);
  void recording(const Check& check, const Moment& moment);
  void collection(const Check& check, const Moment& moment);
  void live_counts(const Check& check, const Moment& moment);
  void left(const Check& check, const Moment& moment);
  void never_finalized(const Check& check, const Moment& moment);
  void weakref_alive(const Check& check, const Moment& moment);

 private:
  // Whether a finalizer ran while its object still has an owner.
  bool is_early(const FinalizerRun& run) const;
  bool is_twice(const FinalizerRun& run) const;
  // The first finalizer run that breaks the contract, or null.
  const FinalizerRun* wrong_run() const;

  // Reports on an impl of KIND; null: on no impl. The default message is the check's.
  void report(const Check& check, const ImplKind* kind, std::vector<std::string> asserts,
              std::string message = "");
  // The same, for the finalizer of the object with that number.
  void report_finalizer(const Check& check, long serial, std::vector<std::string> asserts);
  // Reports an exception of the subject where it must not raise; `shown` raises it again. OBJECT is
  // the name of the kind of impl that it is about.
  void report_error(std::string contract, std::string name, std::string error,
                    std::vector<std::string> shown, std::string object = "");
  const std::string& name(int variable) const { return table_.variable_name(variable); }
  // `last`, after the lines of the reset if the reset has run.
  std::vector<std::string> after_reset(std::string last) const;

  const Executor& executor_;
  const OpTable& table_;
  const Layout& layout_;
  const Capabilities& capabilities_;
  const Tracker& tracker_;
  // A list of the prelude; null if the prelude lacks it.
  PyObject* const unraisable_;
  std::array<std::vector<const Check*>, kStages> by_stage_;
  // What a script does before an assertion about the end, as the ledger did.
  int collections_ = Ledger::kIdleCollections;
  Verdict verdict_;
};

}  // namespace slotfuzz
