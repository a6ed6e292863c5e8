// The embedded CPython: started once per process, with the subject as `T` and the prelude in one
// namespace. It is never finalized, because re-initialising CPython is unsafe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/engine/language/program.h"
#include "harness/engine/language/snippets.h"
#include "harness/engine/python.h"

namespace slotfuzz {

struct InterpreterOptions {
  // The subject's module.
  std::string module = "slotcore";
  // Folders to add to sys.path.
  std::vector<std::string> paths;
  // Snippets that are added to the prelude, which snippets.h describes.
  std::string snippets;
};

// An error of the user's machine or request; `what()` is one line that says what to do.
class StartError : public std::exception {
 public:
  explicit StartError(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

class Interpreter {
 public:
  // Starts CPython with everything pinned that could differ between runs: the hash seed, no
  // environment, no signal handlers. Python allocates with malloc, or the sanitizers would not see
  // its objects. WEIGHTS choose the snippets that only some themes need. Throws StartError when the
  // module cannot be imported, or an added snippet raises.
  Interpreter(const InterpreterOptions& options, const Weights& weights);

  // The prelude, with the snippets that were added.
  const std::vector<Snippet>& snippets() const { return snippets_; }
  // The namespace that programs run in.
  PyObject* names() const { return names_.get(); }
  // The subject's module.
  PyObject* subject() const { return subject_.get(); }
  // A name of the prelude or of `T`; null when the subject lacks it.
  PyObject* find(const char* name) const { return PyDict_GetItemString(names(), name); }
  // Evaluates an expression. Returns null (and clears the error) when it raises.
  Ref evaluate(const std::string& expression) const;
  // The error that an expression raises, as take_error() says it, or an empty text.
  std::string refusal(const std::string& expression) const;
  // For each op, why it is masked on this subject, or an empty text. The answer comes from a probe,
  // never from a list of versions. Ops whose theme has weight 0 are not probed, and neither are
  // those that slotcore certainly has. Each probe runs in a child, so that it leaves no trace, such
  // as another interpreter, in the process that runs programs. An op whose probe kills the child or
  // times out is masked, with a message.
  std::vector<std::string> masked_ops(const OpTable& table, const Weights& weights) const;
  // Every list of the prelude, with its name: state that a program may leave behind.
  std::vector<std::pair<std::string, PyObject*>> prelude_lists() const;
  // Whether the list NAME has notes on what happened, and no objects of a program.
  static bool has_notes(const std::string& name);
  // Exempts all existing objects from collection (gc.freeze). Call this when set-up is over.
  void freeze() const;

 private:
  std::vector<Snippet> snippets_;
  Ref names_;
  Ref subject_;
};

// The exception that is set, as "Name: message"; clears it.
std::string take_error();

}  // namespace slotfuzz
