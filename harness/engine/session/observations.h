// The trace of observations, by which two subjects are compared. After each line it has what the
// line raised and what a program can see of its objects (prelude/observations.py); at the end, what
// the reset left. A caller may name another function of the prelude to ask instead. The trace
// contains no address.
#pragma once

#include <string>
#include <vector>

#include "harness/engine/run/execute.h"

namespace slotfuzz {

// What a line raised, by the name of the exception's type, and what was seen after the line.
struct Observation {
  // Empty if the line raised nothing, and after the reset.
  std::string raised;
  // The answer of the prelude's function.
  std::string seen;

  bool operator==(const Observation&) const = default;
};

class ObservationsWatcher final : public Watcher {
 public:
  // `other` also receives each call, before this watcher observes. `question` names the prelude
  // function that gets all variables.
  explicit ObservationsWatcher(const Interpreter& interpreter, Watcher* other = nullptr,
                               const std::string& question = "observe");

  void start(const Program& program) override;
  void before_line(std::size_t index, const Line& line) override;
  void after_line(std::size_t index, const Line& line, PyObject* raised) override;
  void after_drop() override;

  // One for each line and, at the end, one for the reset.
  const std::vector<Observation>& trace() const { return trace_; }

 private:
  // Calls the prelude's function after a line that raised an exception of the type `raised`.
  void observe(std::string raised);

  const Interpreter& interpreter_;
  const Ref question_;
  Watcher* other_;
  std::vector<Observation> trace_;
};

}  // namespace slotfuzz
