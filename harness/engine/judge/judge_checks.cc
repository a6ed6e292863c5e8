// The checks of the judge that run after each line, in contract order. Each cites its sentence.
// What they know of finalizers and weak references is noted here as well.
#include <algorithm>
#include <array>
#include <bit>

#include "harness/engine/check.h"
#include "harness/engine/judge/judge.h"

namespace slotfuzz {
namespace {

// A program makes at most one object with __del__ per line.
constexpr std::size_t kSerialMax = 4 * kLineMax;

long serial_at(PyObject* list, Py_ssize_t index) {
  return PyLong_AsLong(PyList_GET_ITEM(list, index));
}

bool is_dead(PyObject* reference) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* target = nullptr;
  const bool alive = PyWeakref_GetRef(reference, &target) == 1;
  Py_XDECREF(target);
  return !alive;
#else
  return PyWeakref_GET_OBJECT(reference) == Py_None;
#endif
}

// A deep copy makes further objects than the one that its line binds.
bool has_serial(PyObject* object, Py_ssize_t number) {
  const Ref serial(PyObject_GetAttrString(object, "serial"));
  const bool same = serial && PyLong_Check(serial.get()) && PyLong_AsLong(serial.get()) == number;
  PyErr_Clear();
  return same;
}

std::string name_of(PyObject* type) { return reinterpret_cast<PyTypeObject*>(type)->tp_name; }

// Of the exception that is set, and stays so.
std::string message_of_error() {
  PyObject *type = nullptr, *value = nullptr, *raised_at = nullptr;
  PyErr_Fetch(&type, &value, &raised_at);
  const Ref text(value ? PyObject_Str(value) : nullptr);
  const char* words = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  const std::string message = words ? words : "";
  PyErr_Restore(type, value, raised_at);
  return message;
}

}  // namespace

// What brings the process back to where it was is asked of the subject, which has to do it.
void Judge::check_reset() {
  const auto& failed = executor_.reset_error();
  if (!failed) return;
  report_error(failed->contract.c_str(), failed->step, failed->error, executor_.reset_as_lines());
}

// H1: the mode is on between entering it and leaving it, and at no other time. Of other lanes the
// executor asks those that were in it.
void Judge::check_hermetic_left() {
  if (!is_hermetic_ || verdict_.found()) return;
  const Ref answer(PyObject_CallNoArgs(is_hermetic_.get()));
  PyErr_Clear();
  if (answer.get() == Py_False) return;
  report("H1", "hermetic mode", "the thread is still in hermetic mode",
         after_reset("assert T._is_hermetic() is False"));
}

// An exception is an answer, except for those that say that an invariant does not hold.
void Judge::check_exception(const Line& line, PyObject* raised) {
  if (table_.ops()[line.op].has(Effect::kLeavesHermetic) && (hermetic_ >> line.lane & 1)) {
    // H1: this thread has entered the mode, and no line has left it.
    const std::string error = name_of(raised) + ": " + message_of_error();
    return report_error("H1", "exit_hermetic", error, {});
  }
  const bool is_assertion = PyErr_GivenExceptionMatches(raised, PyExc_AssertionError);
  const bool is_system = PyErr_GivenExceptionMatches(raised, PyExc_SystemError);
  if (!is_assertion && !is_system && !PyErr_GivenExceptionMatches(raised, PyExc_RuntimeError)) {
    return;
  }
  const std::string message = message_of_error();
  const bool is_internal = message.find("INTERNAL ASSERT") != std::string::npos;
  if ((!is_assertion && !is_system && !is_internal) || verdict_.found()) return;
  // The prelude's own asserts begin with the contract number of what is broken, or with the oracle.
  const bool is_promise = is_assertion && message.find(": ") == 2;
  const bool is_memory = is_assertion && message.starts_with("memory: ");
  // Other code asserts with words where it refuses what it was given: a device that it was built
  // without, or an object of another class.
  if (is_assertion && !is_promise && !is_memory && !message.empty()) return;
  verdict_ = {"exception",
              is_promise ? message.substr(0, 2) : "",
              std::string(table_.ops()[line.op].name),
              name_of(raised) + ": " + message,
              "",
              index_,
              {}};
}

// H1: inside, wrapping gives a fresh wrapper of the base class.
void Judge::check_hermetic_wrap(int variable) {
  const Binding& binding = bindings_[variable];
  for (int other = 0; other < table_.variable_count(); ++other) {
    if (other == variable || bindings_[other].object != binding.object) continue;
    report(binding.shape, "H1", "fresh",
           "wrapping in hermetic mode gave a wrapper that exists already",
           {"assert " + name(variable) + " is not " + name(other)});
  }
  if (Py_TYPE(binding.object) == layout_.base_type(binding.shape)) return;
  const char* base = binding.shape == Layout::Shape::kStorage ? "T.UntypedStorage" : "T.Tensor";
  report(binding.shape, "H1", "base class",
         "wrapping in hermetic mode gave a wrapper of a subclass",
         {"assert type(" + name(variable) + ") is " + base});
}

// P1: while an impl lives, an interpreter sees at most one non-hermetic wrapper of it.
void Judge::check_identity(int variable, const Life& life) {
  for (int other = 0; other < table_.variable_count(); ++other) {
    if (other == variable || bindings_[other].object != life.wrapper) continue;
    if (bindings_[other].impl != life.impl) continue;
    report(life.shape, "P1", "identity", "two wrappers of one impl",
           {"assert " + name(variable) + " is " + name(other)});
  }
}

// P2: a wrapper's type and attributes live as long as the impl.
void Judge::check_kept(int variable, const Life& life) {
  PyObject* object = bindings_[variable].object;
  if (Py_TYPE(object) != life.type) {
    const Ref type_name(PyType_GetName(life.type));
    report(life.shape, "P2", "type", "the wrapper came back as another type",
           {"assert type(" + name(variable) + ").__name__ == '" +
            PyUnicode_AsUTF8(type_name.get()) + "'"});
  }
  for (std::size_t bit = 0; bit < attribute_names_.size(); ++bit) {
    if (!(life.attributes >> bit & 1)) continue;
    const std::string attribute(attribute_names_[bit]);
    if (PyObject_HasAttrString(object, attribute.c_str())) continue;
    report(life.shape, "P2", "attributes", "the wrapper came back without an attribute that it had",
           {"assert hasattr(" + name(variable) + ", '" + attribute + "')"});
  }
}

// A line made an object with a finalizer.
void Judge::note_born(Binding& binding) {
  if (!born_ || PyList_GET_SIZE(born_) <= born_before_) return;
  if (!has_serial(binding.object, born_before_)) return;
  binding.serial = static_cast<int>(born_before_);
  born_shapes_.resize(born_before_ + 1, Layout::Shape::kOther);
  born_shapes_[born_before_] = binding.shape;
}

// Each wrapper has the other's impl and attributes now: what is known of either begins anew.
void Judge::note_swap(int first, int second) {
  PyObject* const objects[] = {bindings_[first].object, bindings_[second].object};
  const int serials[] = {bindings_[first].serial, bindings_[second].serial};
  forget(bindings_[first].impl);
  forget(bindings_[second].impl);
  for (PyObject* object : objects) {
    swapped_finalized_ |= object && PyObject_GC_IsFinalized(object) != 0;
  }
  for (Binding& binding : bindings_) {
    if (!binding.object) continue;
    if (binding.object == objects[0]) binding.serial = serials[1];
    if (binding.object == objects[1]) binding.serial = serials[0];
  }
}

// P3: __del__ runs once, and not before the last owner and the last reference are gone.
void Judge::check_finalizers() {
  if (!finalized_) return;
  for (; finalized_seen_ < PyList_GET_SIZE(finalized_); ++finalized_seen_) {
    const long serial = serial_at(finalized_, finalized_seen_);
    if (serial < 0 || static_cast<std::size_t>(serial) >= kSerialMax) continue;
    const std::string number = std::to_string(serial);
    finalized_counts_.resize(std::max<std::size_t>(finalized_counts_.size(), serial + 1));
    if (++finalized_counts_[serial] > 1 && !swapped_finalized_) {
      report(shape_of_serial(serial), "P3", "finalized twice", "__del__ of one object ran twice",
             after_reset("assert finalized.count(" + number + ") == 1"));
    }
    const auto bound = std::find_if(bindings_.begin(), bindings_.end(), [&](const Binding& b) {
      return b.object && b.serial == serial && b.mode == Mode::kNormal;
    });
    const auto life = std::find_if(lives_.begin(), lives_.end(),
                                   [&](const Life& known) { return known.serial == serial; });
    if (bound == bindings_.end() && life == lives_.end()) continue;
    const bool excused = has_exemption_ && collects_now_ && bound == bindings_.end();
    if (!excused) {
      report(shape_of_serial(serial), "P3", "finalized early",
             "__del__ ran while the impl was owned", {"assert " + number + " not in finalized"});
    }
  }
}

Layout::Shape Judge::shape_of_serial(long serial) const {
  const auto at = static_cast<std::size_t>(serial);
  return at < born_shapes_.size() ? born_shapes_[at] : Layout::Shape::kOther;
}

void Judge::note_weakref(const Line& line, const Op& op) {
  const int variable = line.operands[0];
  std::erase_if(weaks_, [&](const Weak& weak) { return weak.variable == variable; });
  PyObject* reference = executor_.value_of(variable);
  if (op.operands.size() < 2 || !reference || !PyWeakref_CheckRef(reference)) return;
  const Binding& target = bindings_[line.operands[1]];
  if (target.mode != Mode::kNormal || !target.impl) return;
  const Ref callback(PyObject_GetAttrString(reference, "__callback__"));
  const bool is_plain = callback.get() == Py_None;
  weaks_.push_back({variable, reference, Ref::borrow(is_plain ? reference : nullptr), target.impl,
                    target.object, target.shape, false});
}

// P4: a weak reference to a wrapper gives the wrapper while the impl lives.
void Judge::check_weakrefs() {
  for (Weak& weak : weaks_) {
    if (weak.excused || executor_.value_of(weak.variable) != weak.reference) continue;
    if (!is_dead(weak.reference)) continue;
    weak.excused = true;
    const Life* life = life_of(weak.impl);
    if (!life || life->wrapper != weak.wrapper) continue;
    const bool excused = has_exemption_ && collects_now_ && !is_bound(weak.wrapper);
    if (!excused) {
      report(weak.shape, "P4", "weakref", "a weak reference died while the impl lives",
             {"assert " + name(weak.variable) + "() is not None"});
    }
  }
}

// The tensors and the owners in C++ that own an impl, each once, under however many names.
std::uint32_t Judge::owners_in_sight(const void* impl) const {
  std::array<const void*, kVariableMax> owners;
  std::uint32_t count = 0;
  for (VariableSet left = wrappers_ | owners_; left; left &= left - 1) {
    const int variable = std::countr_zero(left);
    const Binding& binding = bindings_[variable];
    const bool directly = (owners_ >> variable & 1) && binding.impl == impl;
    const bool owns = binding.storage == impl || binding.grad == impl || binding.base == impl;
    if (!directly && !owns) continue;
    // An owner of a tensor is no further owner of what that owns.
    const void* owner = directly ? binding.object : binding.impl;
    const auto seen = owners.begin() + count;
    if (std::find(owners.begin(), seen, owner) == seen) owners[count++] = owner;
  }
  return count;
}

// P7: the use count is at least what the references that are in sight add up to.
void Judge::check_use_counts(const Line& line) {
  const Op& op = table_.ops()[line.op];
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const Operand& operand = op.operands[i];
    if (operand.kind >= 0 && !table_.kinds()[operand.kind].is_variable()) continue;
    const Binding& binding = bindings_[line.operands[i]];
    if (binding.shape == Layout::Shape::kOther || !binding.impl) continue;
    const auto use_count = layout_.use_count_of(binding.impl);
    if (!use_count) return;
    const std::uint32_t owners = owners_in_sight(binding.impl);
    if (*use_count >= owners) continue;
    report(binding.shape, "P7", "use count", "the use count is below the number of owners",
           {"assert " + name(line.operands[i]) + "._use_count() >= " + std::to_string(owners)});
  }
}

// An exception in __del__ or in a callback, which nobody can catch.
void Judge::check_unraisable() {
  if (!unraisable_ || PyList_GET_SIZE(unraisable_) == 0 || verdict_.found()) return;
  const char* words = PyUnicode_AsUTF8(PyList_GET_ITEM(unraisable_, 0));
  report_error("P3", "unraisable", words ? words : "", {"assert not unraisable, unraisable"});
}

std::vector<std::string> Judge::after_reset(std::string last) const {
  std::vector<std::string> lines;
  if (index_ == line_count_) {
    lines = executor_.reset_as_lines();
    // As the ledger does.
    if (!live_wrappers_) {
      lines.push_back("for _ in range(" + std::to_string(kMoreCollections) + "): gc.collect()");
    }
  }
  lines.push_back(std::move(last));
  return lines;
}

// P3: and not later.
void Judge::check_never_finalized() {
  // The ledger may have collected again.
  check_finalizers();
  if (!born_ || swapped_finalized_) return;
  for (long serial = 0; serial < PyList_GET_SIZE(born_); ++serial) {
    const auto at = static_cast<std::size_t>(serial);
    if (at < finalized_counts_.size() && finalized_counts_[at] > 0) continue;
    report(shape_of_serial(serial), "P3", "never finalized",
           "__del__ did not run though nothing owns the object",
           after_reset("assert " + std::to_string(serial) + " in finalized"));
  }
}

// P4: and None afterwards.
void Judge::check_after_drop_weakrefs() {
  for (const Weak& weak : weaks_) {
    if (!weak.kept || is_dead(weak.kept.get())) continue;
    std::vector<std::string> lines = after_reset("assert kept() is None");
    lines.insert(lines.begin(), "kept = " + name(weak.variable));
    report(weak.shape, "P4", "weakref alive", "a weak reference gives a wrapper that nothing owns",
           lines);
  }
}

void Judge::report(Layout::Shape shape, const char* contract, const std::string& check,
                   std::string message, std::vector<std::string> asserts) {
  if (verdict_.found()) return;
  const bool tensor = shape == Layout::Shape::kTensor;
  const std::string named = tensor ? "tensor " + check : check;
  report(contract, named.c_str(), std::move(message), std::move(asserts));
  if (shape != Layout::Shape::kOther) verdict_.object = tensor ? "tensor" : "storage";
}

}  // namespace slotfuzz
