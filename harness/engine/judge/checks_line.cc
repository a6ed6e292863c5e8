// The checks that run after a line.
#include <algorithm>
#include <iterator>

#include "harness/engine/judge/checks.h"
#include "harness/engine/language/sentences.h"

namespace slotfuzz {
namespace {

std::string name_of(PyObject* type) { return reinterpret_cast<PyTypeObject*>(type)->tp_name; }

// The message of the exception that is set; leaves it set.
std::string message_of_error() {
  PyObject *type = nullptr, *value = nullptr, *raised_at = nullptr;
  PyErr_Fetch(&type, &value, &raised_at);
  const Ref text(value ? PyObject_Str(value) : nullptr);
  const char* words = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  const std::string message = words ? words : "";
  PyErr_Restore(type, value, raised_at);
  return message;
}

// An error that says that code is wrong: it asks for what an object does not have, or calls it with
// what it does not take.
bool is_wrong_use(PyObject* raised) {
  PyObject* const classes[] = {PyExc_TypeError, PyExc_AttributeError, PyExc_NameError,
                               PyExc_LookupError};
  return std::any_of(std::begin(classes), std::end(classes),
                     [raised](PyObject* one) { return PyErr_GivenExceptionMatches(raised, one); });
}

}  // namespace

// H1: this thread has entered the mode, and no line has left it.
void Checks::exit_hermetic(const Check& check, const Moment& moment) {
  const Line& line = *moment.line;
  if (!table_.ops()[line.op].has(Effect::kLeavesHermetic) || !tracker_.is_hermetic(line.lane))
    return;
  report_error(std::string(check.contract), std::string(check.name),
               name_of(moment.raised) + ": " + message_of_error(), {});
}

// Whether the line makes an object from values alone. Outside of a fake mode nothing that a program
// has done may make it raise: a call that always raises would otherwise pass as an ordinary error.
bool Checks::makes_from_values(const Op& op, const Line& line) const {
  if (!capabilities_.counts_objects || tracker_.is_in_mode(line.lane)) return false;
  if (op.has(Effect::kRaises) || op.has(Effect::kExceedsMemory)) return false;
  if (op.operands.empty() || op.operands[0].use != Use::kMake) return false;
  return std::none_of(op.operands.begin() + 1, op.operands.end(),
                      [this](const Operand& one) { return table_.is_variable(one); });
}

// Whether a check of the prelude is to report what it has raised: an error other than its assertion
// has ended it before it has checked anything. The core may refuse the operands of a row that is
// not `certain`, but never by an error of wrong use. A subject that is not ours may lack what the
// line calls, or reject it in its own words.
bool Checks::must_not_raise(const Op& op, const Line& line, PyObject* raised) const {
  if (!capabilities_.counts_objects) return false;
  const bool is_checked = op.has(Effect::kChecks) && !op.has(Effect::kRaises);
  if (!op.certain && !(is_checked && is_wrong_use(raised))) return false;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    if (!table_.is_variable(op.operands[i])) continue;
    if (!tracker_.holds_its_kind(op.operands[i], line.operands[i])) return false;
  }
  return true;
}

// A program may raise; only exceptions that say that an invariant is broken are findings.
void Checks::exception(const Check&, const Moment& moment) {
  PyObject* raised = moment.raised;
  const Op& op = table_.ops()[moment.line->op];
  // M7: a mode refuses the real tensors of a check.
  if (op.has(Effect::kChecks) && tracker_.is_in_mode(moment.line->lane)) return;
  const bool is_assertion = PyErr_GivenExceptionMatches(raised, PyExc_AssertionError);
  const bool must_return = must_not_raise(op, *moment.line, raised) ||
                            makes_from_values(op, *moment.line);
  if (!is_assertion && must_return) {
    return report_error("", op.name, name_of(raised) + ": " + message_of_error(), {});
  }
  // M7: PyTorch asserts, without words, that it has no fake of an operand.
  const bool is_about_fakes = op.theme == Theme::kMeta || tracker_.is_in_mode(moment.line->lane);
  if (is_assertion && is_about_fakes && message_of_error().empty()) return;
  const bool is_system = PyErr_GivenExceptionMatches(raised, PyExc_SystemError);
  if (!is_assertion && !is_system && !PyErr_GivenExceptionMatches(raised, PyExc_RuntimeError)) {
    return;
  }
  const std::string message = message_of_error();
  const bool is_internal = message.find("INTERNAL ASSERT") != std::string::npos;
  if (!is_assertion && !is_system && !is_internal) return;
  // The prelude's own asserts begin with the number of the broken promise, or with the oracle.
  const Sentence* broken = is_assertion ? sentence_of_message(message) : nullptr;
  const std::string promise(broken ? broken->number : "");
  const bool is_memory = is_assertion && message.starts_with("memory: ");
  // Other code asserts with a message when it rejects an argument: a device that the build lacks,
  // or an object of another class.
  const bool may_reject = is_assertion && promise.empty() && !is_memory && !message.empty();
  if (may_reject && !must_return) return;
  report_error(promise, op.name, name_of(raised) + ": " + message, {},
               promise.empty() ? "" : op.checks_kind);
}

// H1: in the mode, wrapping creates a fresh wrapper of the base class.
void Checks::fresh(const Check& check, const Moment&) {
  const int variable = *tracker_.seen().asked_in_hermetic;
  const Binding& binding = tracker_.binding(variable);
  for (int other = 0; other < table_.variable_count(); ++other) {
    if (other == variable || tracker_.binding(other).object != binding.object) continue;
    report(check, binding.kind, {"assert " + name(variable) + " is not " + name(other)});
  }
}

void Checks::base_class(const Check& check, const Moment&) {
  const int variable = *tracker_.seen().asked_in_hermetic;
  const Binding& binding = tracker_.binding(variable);
  if (Py_TYPE(binding.object) == binding.kind->type) return;
  report(check, binding.kind,
         {"assert type(" + name(variable) + ") is " + std::string(binding.kind->row->type)});
}

// P1: while an impl lives, an interpreter sees at most one non-hermetic wrapper of it.
void Checks::identity(const Check& check, const Moment&) {
  const int variable = *tracker_.seen().met_again;
  const Life& life = tracker_.seen().before;
  if (life.wrapper == tracker_.binding(variable).object) return;
  for (int other = 0; other < table_.variable_count(); ++other) {
    const Binding& binding = tracker_.binding(other);
    if (other == variable || binding.object != life.wrapper || binding.impl != life.impl) continue;
    report(check, life.kind, {"assert " + name(variable) + " is " + name(other)});
  }
}

// P2: a wrapper's type stays while the impl lives.
void Checks::type(const Check& check, const Moment&) {
  const int variable = *tracker_.seen().met_again;
  const Life& life = tracker_.seen().before;
  if (Py_TYPE(tracker_.binding(variable).object) == life.type) return;
  const Ref type_name(PyType_GetName(life.type));
  report(check, life.kind,
         {"assert type(" + name(variable) + ").__name__ == '" + PyUnicode_AsUTF8(type_name.get()) +
          "'"});
}

// P2: and so do its attributes.
void Checks::attributes(const Check& check, const Moment&) {
  const int variable = *tracker_.seen().met_again;
  const Life& life = tracker_.seen().before;
  const std::vector<std::string>& names = tracker_.attribute_names();
  for (std::size_t bit = 0; life.attributes >> bit; ++bit) {
    if (!(life.attributes >> bit & 1)) continue;
    if (PyObject_HasAttrString(tracker_.binding(variable).object, names[bit].c_str())) continue;
    report(check, life.kind, {"assert hasattr(" + name(variable) + ", '" + names[bit] + "')"});
  }
}

bool Checks::is_twice(const FinalizerRun& run) const {
  return run.count > 1 && !tracker_.swapped_finalized();
}

bool Checks::is_early(const FinalizerRun& run) const {
  const bool is_bound = std::any_of(
      tracker_.bindings().begin(), tracker_.bindings().end(), [&](const Binding& binding) {
        return binding.object && binding.serial == run.serial && binding.mode == Mode::kNormal;
      });
  if (is_bound) return true;
  const bool lives = std::any_of(tracker_.lives().begin(), tracker_.lives().end(),
                                 [&](const Life& life) { return life.serial == run.serial; });
  return lives && !(capabilities_.resurrects && tracker_.seen().collected);
}

const FinalizerRun* Checks::wrong_run() const {
  for (const FinalizerRun& run : tracker_.seen().finalizer_runs) {
    if (is_twice(run) || is_early(run)) return &run;
  }
  return nullptr;
}

// P3: __del__ runs once.
void Checks::finalized_twice(const Check& check, const Moment&) {
  const FinalizerRun* run = wrong_run();
  if (!run || !is_twice(*run)) return;
  report_finalizer(check, run->serial,
                   after_reset("assert finalized.count(" + std::to_string(run->serial) + ") == 1"));
}

// P3: and not before the last owner and the last reference are gone.
void Checks::finalized_early(const Check& check, const Moment&) {
  const FinalizerRun* run = wrong_run();
  if (!run || !is_early(*run)) return;
  report_finalizer(check, run->serial,
                   {"assert " + std::to_string(run->serial) + " not in finalized"});
}

// P4: a weak reference to a wrapper returns the wrapper while the impl lives.
void Checks::weakref(const Check& check, const Moment&) {
  const Seen& seen = tracker_.seen();
  for (const Weak* weak : seen.died_early) {
    if (capabilities_.resurrects && seen.collected && !tracker_.is_bound(weak->wrapper)) continue;
    report(check, weak->kind, {"assert " + name(weak->variable) + "() is not None"});
  }
}

// P7: the use count is at least the sum of the observed references.
void Checks::use_count(const Check& check, const Moment& moment) {
  tracker_.for_each_variable(*moment.line, [&](int variable) {
    const Binding& binding = tracker_.binding(variable);
    if (!binding.kind || !binding.impl) return;
    const auto use_count = layout_.use_count_of(binding.impl, *binding.kind);
    if (!use_count) return;
    const std::uint32_t owners = tracker_.owners_of(binding.impl);
    if (*use_count >= owners) return;
    report(check, binding.kind,
           {"assert " + name(variable) + "._use_count() >= " + std::to_string(owners)});
  });
}

// P3: an exception in __del__ or in a callback, which no caller can catch.
void Checks::unraisable(const Check& check, const Moment&) {
  if (!unraisable_ || PyList_GET_SIZE(unraisable_) == 0) return;
  const char* words = PyUnicode_AsUTF8(PyList_GET_ITEM(unraisable_, 0));
  report_error(std::string(check.contract), std::string(check.name), words ? words : "",
               {"assert not unraisable, unraisable"});
}

}  // namespace slotfuzz
