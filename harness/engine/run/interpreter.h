// The embedded CPython: started once per process, with the module under test as `T` and the prelude
// in one namespace. It is never finalised: re-initialising CPython is unsafe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/engine/language/program.h"
#include "harness/engine/python.h"

namespace slotfuzz {

struct InterpreterOptions {
  // The module under test.
  std::string module = "slotcore";
  // Folders that sys.path gets in addition.
  std::vector<std::string> paths;
};

// The user's machine or request is at fault; `what()` is one line that says what to do.
class StartError : public std::exception {
 public:
  explicit StartError(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

class Interpreter {
 public:
  // Starts CPython with everything pinned that could differ between runs: hash seed, allocator
  // (malloc, or the sanitizers would not see Python's objects), no environment, no signal handlers.
  // Throws StartError when the module cannot be imported.
  explicit Interpreter(const InterpreterOptions& options);

  // The namespace that programs run in.
  PyObject* names() const { return names_.get(); }
  // The module under test.
  PyObject* subject() const { return subject_.get(); }
  // A name of the prelude or of `T`; null when the subject lacks it.
  PyObject* find(const char* name) const { return PyDict_GetItemString(names(), name); }
  // Evaluates an expression, or null (with the error cleared).
  Ref evaluate(const std::string& expression) const;
  // For each op: can this subject do it? Probed, never looked up in a list of versions. Ops
  // whose theme has no weight are not, and nothing of theirs is tried. What is tried is tried in a
  // child, so that it leaves no trace in the process that runs programs: another interpreter that
  // was there, say. An op whose probe ends the child, or takes too long, is masked, which is said.
  std::vector<bool> available_ops(const OpTable& table, const Weights& weights) const;
  // Every list of the prelude, with its name: state that a program may leave behind.
  std::vector<std::pair<std::string, PyObject*>> prelude_lists() const;
  // Moves all that exists out of the collector's sight. To be called when set-up is over.
  void freeze() const;

 private:
  Ref names_;
  Ref subject_;
};

// The exception that is set, as "Name: message"; clears it.
std::string take_error();

}  // namespace slotfuzz
