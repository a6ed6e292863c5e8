// The trace of observations, by which two subjects are compared. After each line it has what the
// line raised and what a program can see of its objects (prelude/observations.py); at the end, what
// the reset left. A caller may name another function of the prelude to ask instead. The trace
// contains no address.
#pragma once

#include <string>
#include <vector>

#include "harness/engine/run/execute.h"

namespace slotfuzz {

class FactsWatcher final : public Watcher {
 public:
  // `other` also receives each call, before this watcher observes. `question` names the prelude
  // function that gets all variables.
  explicit FactsWatcher(const Interpreter& interpreter, Watcher* other = nullptr,
                        const std::string& question = "observe");

  void start(const Program& program) override;
  void before_line(std::size_t index, const Line& line) override;
  void after_line(std::size_t index, const Line& line, PyObject* raised) override;
  void after_drop() override;

  // Observations after each line and, at the end, after the reset; newlines separate them.
  const std::vector<std::string>& trace() const { return trace_; }

 private:
  // Appends `first` and then the prelude's observations.
  void observe(const std::string& first);

  const Interpreter& interpreter_;
  const Ref question_;
  Watcher* other_;
  std::vector<std::string> trace_;
};

}  // namespace slotfuzz
