// Runs programs: evaluates each line in the namespace, tells a watcher what happened, and brings
// the process back to where it was.
//
// What runs is what is printed: a line's text is compiled once and its code object evaluated.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "harness/engine/run/interpreter.h"
#include "harness/engine/language/raises.h"
#include "harness/engine/run/watchdog.h"

namespace slotfuzz {

// Follows a run. The calls come in this order: start, then before_line and after_line for each
// line, then after_drop when every name of the program is gone and the collector has run.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void start(const Program& program) = 0;
  virtual void before_line(std::size_t index, const Line& line) = 0;
  // `raised` is the type of the exception that the line raised, or null; it is set as the error.
  virtual void after_line(std::size_t index, const Line& line, PyObject* raised) = 0;
  virtual void after_drop() = 0;
};

// Evaluates lines and nothing else; the rest of the executor is measured against it.
class LineEvaluator {
 public:
  LineEvaluator(Interpreter& interpreter, Printer& printer)
      : interpreter_(interpreter), printer_(printer) {}

  // A line, compiled: a function and its code, which live for ever.
  struct Compiled {
    PyObject* function = nullptr;
    PyObject* code = nullptr;
  };
  // Compiles the line if it never ran: what compiling leaves behind is then there before a run.
  const Compiled& compiled(const Line& line);
  // Asks for the memory that running it begins with. A hunt has tens of thousands of lines, and few
  // of them in the caches.
  static void prefetch(const Compiled& line);
  // False when the line raised; the exception is then set.
  static bool run(const Compiled& line);
  bool run(const Line& line) { return run(compiled(line)); }

 private:
  Compiled compile(const Line& line);

  Interpreter& interpreter_;
  Printer& printer_;
  // Each element stays where it is when others come.
  std::unordered_map<std::uint64_t, Compiled> compiled_;
};

// A set of lanes, by bit.
using LaneSet = std::uint8_t;
static_assert(kLaneCount <= 8 * sizeof(LaneSet));

// The lanes that are in hermetic mode after a line that did not raise, when HERMETIC were before:
// the mode is the thread's.
LaneSet hermetic_after(const Op& op, const Line& line, LaneSet hermetic);

// A step of a reset that the subject answered with an exception: what it has broken then (a
// contract number, or empty), which step, and the exception as "Name: message".
struct ResetError {
  std::string contract;
  std::string step;
  std::string error;
};

class Executor {
 public:
  Executor(Interpreter& interpreter, Printer& printer);

  void run(const Program& program, Watcher& watcher);
  // Compiles what was never compiled.
  void prepare(const Program& program);
  // The value of a variable, borrowed, or null.
  PyObject* value_of(int variable) const;
  // The lines of the last program that raised.
  const LineSet& raised() const { return raised_; }
  Watchdog& watchdog() { return watchdog_; }
  // The first step of the last reset that failed.
  const std::optional<ResetError>& reset_error() const { return reset_error_; }
  // What the last reset did, as lines of Python: a script that shows a leak ends with them.
  std::vector<std::string> reset_as_lines() const;
  // What a reset would begin with if the program ended here, for a crash in the midst of it.
  std::vector<std::string> reset_to_come(const Program& program) const;

 private:
  // What a reset drops: hermetic mode, variables, and per round the lists of held_, by bit.
  struct Dropped {
    LaneSet hermetic = 0;
    // Of these lanes those that were asked whether they are out of it, and are not.
    LaneSet still_hermetic = 0;
    VariableSet variables = 0;
    // Whether a drop may have been left to a later line.
    bool owners = false;
    std::vector<std::uint32_t> rounds;
  };

  void reset(const Program& program, Watcher& watcher);
  void leave_hermetic();
  // Notes the exception that is set, unless an earlier step has failed.
  void note_error(std::string contract, std::string step);
  // The line that leaves hermetic mode on a lane.
  Line exit_on(std::size_t lane) const;
  bool has_owners(const Program& program) const;
  VariableSet bound_variables(const Program& program) const;
  void drop_variables(VariableSet variables);
  // Clears the prelude's lists of held objects; one bit for each that was not empty.
  std::uint32_t drop_held();
  // The lists that are not empty.
  std::uint32_t held_lists() const;
  std::vector<std::string> as_lines(const Dropped& dropped) const;
  // The number of objects that the collector found.
  long collect();
  // The line that asserts that a lane is not in hermetic mode.
  std::string assert_left_on(std::size_t lane) const;

  Interpreter& interpreter_;
  const OpTable& table_;
  LineEvaluator evaluator_;
  Watchdog watchdog_;
  // Wraps something, so that what other threads have left to be dropped is dropped (T6).
  Ref settle_;
  // Variable names as interned strings.
  std::vector<Ref> variables_;
  // Prelude lists that hold wrappers, and those that only hold numbers and words.
  std::vector<std::pair<std::string, PyObject*>> held_;
  std::vector<PyObject*> notes_;
  // What the last reset dropped.
  Dropped dropped_;
  std::optional<ResetError> reset_error_;
  Ref collect_;
  // For each lane, what asserts that its thread is not in hermetic mode; null where nobody tells.
  std::vector<Ref> asserts_left_;
  // Unset when the subject knows no hermetic mode.
  std::optional<std::uint16_t> exit_hermetic_;
  LaneSet hermetic_ = 0;
  LineSet raised_;
  // Of the program that runs.
  std::vector<const LineEvaluator::Compiled*> compiled_;
};

}  // namespace slotfuzz
