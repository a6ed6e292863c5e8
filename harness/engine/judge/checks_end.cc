// The checks that run when a program is over.
#include "harness/engine/judge/checks.h"

namespace slotfuzz {

// The reset calls the subject, whose calls must not fail.
void Checks::reset(const Check&, const Moment&) {
  const auto& failed = executor_.reset_error();
  if (!failed) return;
  report_error(failed->contract, failed->step, failed->error, executor_.reset_as_lines());
}

// H1: the mode is on between entering it and leaving it, and at no other time. The executor asks
// each other lane that was in the mode.
void Checks::hermetic_mode(const Check& check, const Moment&) {
  if (!capabilities_.is_hermetic) return;
  const Ref answer(PyObject_CallNoArgs(capabilities_.is_hermetic.get()));
  PyErr_Clear();
  if (answer.get() == Py_False) return;
  report(check, nullptr, after_reset("assert T._is_hermetic() is False"));
}

// A5e: what the main thread records is the same after each program.
void Checks::recording(const Check& check, const Moment&) {
  if (!capabilities_.recording) return;
  const Ref now(PyObject_CallNoArgs(capabilities_.recording.get()));
  const int same =
      now ? PyObject_RichCompareBool(now.get(), capabilities_.recording_at_start.get(), Py_EQ) : -1;
  PyErr_Clear();
  if (same == 1) return;
  report(check, nullptr, after_reset("assert recording() == recording_at_start"));
}

void Checks::collection(const Check& check, const Moment& moment) {
  const auto& error = moment.result->collect_error;
  if (!error) return;
  report_error(std::string(check.contract), std::string(check.name), *error,
               after_reset("gc.collect()"));
}

void Checks::live_counts(const Check& check, const Moment& moment) {
  if (moment.result->balance != Ledger::Balance::kUnknown) return;
  const std::string& call = moment.ledger->counts()[moment.result->count].call;
  report_error(std::string(check.contract), std::string(check.name), moment.result->error,
               after_reset("0 + " + call));
}

// P5: when every reference is dropped and the collector has run, no impl lives.
void Checks::left(const Check& check, const Moment& moment) {
  if (moment.result->balance != Ledger::Balance::kUneven) return;
  const Ledger::Count& count = moment.ledger->counts()[moment.result->count];
  Check named = check;
  const std::string name = std::string(check.name) + ' ' + count.noun;
  named.name = name;
  report(named, nullptr, after_reset("assert " + count.call + " == 0"),
         std::to_string(moment.result->left) + ' ' + count.noun + " live on");
}

// P3: __del__ runs before the end.
void Checks::never_finalized(const Check& check, const Moment&) {
  if (tracker_.swapped_finalized()) return;
  for (long serial = 0; serial < tracker_.born_count(); ++serial) {
    if (tracker_.finalized_count(serial) > 0) continue;
    report_finalizer(check, serial,
                     after_reset("assert " + std::to_string(serial) + " in finalized"));
  }
}

// P4: a weak reference returns None when the impl is freed.
void Checks::weakref_alive(const Check& check, const Moment&) {
  for (const Weak& weak : tracker_.weaks()) {
    if (!weak.kept || is_dead(weak.kept.get())) continue;
    std::vector<std::string> lines = after_reset("assert kept() is None");
    lines.insert(lines.begin(), "kept = " + name(weak.variable));
    report(check, weak.kind, lines);
  }
}

}  // namespace slotfuzz
