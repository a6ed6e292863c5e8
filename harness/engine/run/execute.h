// The executor runs programs: it evaluates each line in the namespace, notifies a watcher, and then
// resets the process to its earlier state.
//
// The executor compiles the printed text of a line once, and evaluates that code object.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "harness/engine/language/raises.h"
#include "harness/engine/run/interpreter.h"
#include "harness/engine/run/watchdog.h"

namespace slotfuzz {

// Observes a run. The calls come in this order: start, then before_line and after_line for each
// line, then after_drop when all names of the program are deleted and the collector has run.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void start(const Program& program) = 0;
  virtual void before_line(std::size_t index, const Line& line) = 0;
  // `raised` is the type of the exception that the line raised, or null. That error is still set.
  virtual void after_line(std::size_t index, const Line& line, PyObject* raised) = 0;
  virtual void after_drop() = 0;
};

// Evaluates lines and nothing else; the overhead of the executor is measured against it.
class LineEvaluator {
 public:
  LineEvaluator(Interpreter& interpreter, Printer& printer)
      : interpreter_(interpreter), printer_(printer) {}

  // A compiled line: a function and its code.
  struct Compiled {
    PyObject* function = nullptr;
    PyObject* code = nullptr;
  };
  // Compiles the line unless it is cached, so that the objects that compiling creates precede a
  // run.
  const Compiled& compiled(const Line& line);
  // Frees all compiled lines if there are more than `kept`. None of them may be running.
  void forget(std::size_t kept);
  std::size_t size() const { return compiled_.size(); }
  // Prefetches the memory that the run of the line touches first. A hunt has tens of thousands of
  // lines, and the CPU caches hold few of them.
  static void prefetch(const Compiled& line);
  // Returns false when the line raised; the exception is then set.
  static bool run(const Compiled& line);
  bool run(const Line& line) { return run(compiled(line)); }

 private:
  Compiled compile(const Line& line);

  Interpreter& interpreter_;
  Printer& printer_;
  // An element keeps its address when others are inserted.
  std::unordered_map<std::uint64_t, Compiled> compiled_;
};

// A set of lanes, by bit.
using LaneSet = std::uint8_t;
static_assert(kLaneCount <= 8 * sizeof(LaneSet));

// The lanes in hermetic mode after a line that did not raise, given those before it: the mode
// belongs to the thread.
LaneSet hermetic_after(const Op& op, const Line& line, LaneSet hermetic);
// The lanes in fake modes, likewise.
LaneSet entered_after(const Op& op, const Line& line, LaneSet entered);

// A step of a reset that raised: the contract number of the promise that it breaks (or empty), the
// step, and the exception as "Name: message".
struct ResetError {
  std::string contract;
  std::string step;
  std::string error;
};

class Executor {
 public:
  Executor(Interpreter& interpreter, Printer& printer);

  void run(const Program& program, Watcher& watcher);
  // Compiles the lines that are not cached.
  void prepare(const Program& program);
  // The value of a variable, as a borrowed reference, or null.
  PyObject* value_of(int variable) const;
  // The lines of the last program that raised.
  const LineSet& raised() const { return raised_; }
  Watchdog& watchdog() { return watchdog_; }
  // The first step of the last reset that failed.
  const std::optional<ResetError>& reset_error() const { return reset_error_; }
  // The steps of the last reset as lines of Python: a script that shows a leak ends with them.
  std::vector<std::string> reset_as_lines() const;
  // The first steps of a reset after this program, for a report of a crash in the reset.
  std::vector<std::string> reset_to_come(const Program& program) const;

 private:
  // What a reset clears: fake modes, hermetic mode, variables, and in each round lists of held_, by
  // bit.
  struct Dropped {
    LaneSet entered = 0;
    LaneSet hermetic = 0;
    // The lanes that the reset asked to leave hermetic mode and that are still in it.
    LaneSet still_hermetic = 0;
    VariableSet variables = 0;
    // Whether an owner's release may be deferred to a later line.
    bool owners = false;
    std::vector<std::uint32_t> rounds;
  };

  void reset(const Program& program, Watcher& watcher);
  void leave_modes();
  void leave_hermetic();
  // Records the exception that is set, unless an earlier step has failed.
  void note_error(std::string contract, std::string step);
  // The line that leaves hermetic mode on a lane, and the one that leaves all fake modes.
  Line exit_on(std::size_t lane) const;
  Line leave_on(std::size_t lane) const;
  bool has_owners(const Program& program) const;
  VariableSet bound_variables(const Program& program) const;
  void drop_variables(VariableSet variables);
  // Clears the prelude's lists of held objects. Returns a bit for each list that was not empty.
  std::uint32_t drop_held();
  // The lists that are not empty, by bit.
  std::uint32_t held_lists() const;
  std::vector<std::string> as_lines(const Dropped& dropped) const;
  // Runs the collector. Returns the number of objects that it found.
  long collect();
  // The line that asserts that a lane is not in hermetic mode.
  std::string assert_left_on(std::size_t lane) const;

  Interpreter& interpreter_;
  const OpTable& table_;
  LineEvaluator evaluator_;
  Watchdog watchdog_;
  // Wraps an object, which makes the subject do the releases that other threads deferred (T6).
  Ref settle_;
  // Variable names as interned strings.
  std::vector<Ref> variables_;
  // Prelude lists that hold wrappers, and lists that hold only numbers and words.
  std::vector<std::pair<std::string, PyObject*>> held_;
  std::vector<PyObject*> notes_;
  // What the last reset cleared.
  Dropped dropped_;
  std::optional<ResetError> reset_error_;
  Ref collect_;
  // For each lane, asserts that its thread is not in hermetic mode; null if the subject cannot
  // tell.
  std::vector<Ref> asserts_left_;
  // Unset when the subject has no hermetic mode.
  std::optional<std::uint16_t> exit_hermetic_;
  LaneSet hermetic_ = 0;
  // Unset when the subject has no fake modes.
  std::optional<std::uint16_t> leave_modes_;
  LaneSet entered_ = 0;
  LineSet raised_;
  // The compiled lines of the current program.
  std::vector<const LineEvaluator::Compiled*> compiled_;
};

}  // namespace slotfuzz
