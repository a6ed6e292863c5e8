// The trace of observable facts, by which two subjects are compared: after each line, what the line
// raised and what a program can see of its objects (prelude_facts.py); and what the reset has left.
// Another question of the prelude may be asked instead.
// No address is in it.
#pragma once

#include <string>
#include <vector>

#include "harness/engine/run/execute.h"

namespace slotfuzz {

class FactsWatcher final : public Watcher {
 public:
  // `other` follows the run as well, each time before the facts are asked. `question` is the
  // function of the prelude that gets all names.
  explicit FactsWatcher(const Interpreter& interpreter, Watcher* other = nullptr,
                        const std::string& question = "observe");

  void start(const Program& program) override;
  void before_line(std::size_t index, const Line& line) override;
  void after_line(std::size_t index, const Line& line, PyObject* raised) override;
  void after_drop() override;

  // Of the lines that have run and, at the end, of the reset: facts, separated by newlines.
  const std::vector<std::string>& trace() const { return trace_; }

 private:
  // `first` is a fact of its own.
  void observe(const std::string& first);

  const Interpreter& interpreter_;
  const Ref question_;
  Watcher* other_;
  std::vector<std::string> trace_;
};

}  // namespace slotfuzz
