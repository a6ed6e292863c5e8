// The executor's inner loop and the reset between programs.
#include "harness/engine/run/execute.h"

#include <algorithm>
#include <bit>

#include "harness/engine/check.h"

namespace slotfuzz {
namespace {

// A finalizer may refill the lists that a reset has just cleared. Each object does so at most once,
// but a chain of slices that resurrect themselves is freed one by one.
constexpr std::size_t kResetRoundMax = kLineMax + 1;
constexpr const char* kSettle = "T.UntypedStorage(0)";
// The wording of the prelude's own assertions, with the contract number.
constexpr const char* kAssertLeft =
    "assert not T._is_hermetic(), 'H1: the thread is still in hermetic mode'";
constexpr std::size_t kCacheLineBytes = 64;
// The size of the code objects of most lines, instructions included.
constexpr std::size_t kCodeBytes = 320;

}  // namespace

// A function whose globals are the namespace. CPython evaluates module-level code called this way
// with its globals as locals, and allocates no frame.
LineEvaluator::Compiled LineEvaluator::compile(const Line& line) {
  const std::string& text = printer_.print(line);
  PyObject* code = Py_CompileString(text.c_str(), text.c_str(), Py_file_input);
  CHECK(code, "op table: no Python: " << text << ": " << take_error());
  PyObject* function = PyFunction_New(code, interpreter_.names());
  CHECK(function, "function");
  // Untracked, the collector does not visit it in every reset.
  PyObject_GC_UnTrack(function);
  return {function, code};
}

const LineEvaluator::Compiled& LineEvaluator::compiled(const Line& line) {
  Compiled& found = compiled_[key_of(line)];
  if (!found.function) found = compile(line);
  return found;
}

void LineEvaluator::forget(std::size_t kept) {
  if (compiled_.size() <= kept) return;
  for (auto& [key, line] : compiled_) {
    PyObject_GC_Track(line.function);  // as its deallocation expects
    Py_DECREF(line.function);
    Py_DECREF(line.code);
  }
  compiled_.clear();
}

void LineEvaluator::prefetch(const Compiled& line) {
  for (std::size_t at = 0; at < kCodeBytes; at += kCacheLineBytes) {
    __builtin_prefetch(reinterpret_cast<const char*>(line.code) + at);
  }
  for (std::size_t at = 0; at < sizeof(PyFunctionObject); at += kCacheLineBytes) {
    __builtin_prefetch(reinterpret_cast<const char*>(line.function) + at);
  }
}

bool LineEvaluator::run(const Compiled& line) {
  PyObject* result = PyObject_Vectorcall(line.function, nullptr, 0, nullptr);
  Py_XDECREF(result);
  return result != nullptr;
}

LaneSet hermetic_after(const Op& op, const Line& line, LaneSet hermetic) {
  const auto own = static_cast<LaneSet>(1u << line.lane);
  if (op.has(Effect::kEntersHermetic)) hermetic |= own;
  return op.has(Effect::kLeavesHermetic) ? hermetic & static_cast<LaneSet>(~own) : hermetic;
}

LaneSet entered_after(const Op& op, const Line& line, LaneSet entered) {
  const auto own = static_cast<LaneSet>(1u << line.lane);
  if (op.has(Effect::kEntersMode)) return entered | own;
  return op.has(Effect::kLeavesMode) ? entered & static_cast<LaneSet>(~own) : entered;
}

Executor::Executor(Interpreter& interpreter, Printer& printer)
    : interpreter_(interpreter),
      table_(printer.table()),
      evaluator_(interpreter, printer),
      watchdog_(table_, interpreter) {
  for (int variable = 0; variable < table_.variable_count(); ++variable) {
    variables_.emplace_back(PyUnicode_InternFromString(table_.variable_name(variable).c_str()));
  }
  for (auto& [name, list] : interpreter.prelude_lists()) {
    if (Interpreter::has_notes(name))
      notes_.push_back(list);
    else
      held_.emplace_back(name, list);
  }
  collect_ = interpreter.evaluate("gc.collect");
  settle_ = interpreter.evaluate(std::string("lambda: ") + kSettle);
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    const bool tells = lane != 0 && interpreter.evaluate("T._is_hermetic");
    asserts_left_.push_back(tells ? interpreter.evaluate("lambda: " + assert_left_on(lane))
                                  : Ref());
  }
  if (interpreter.find("exit_hermetic")) exit_hermetic_ = table_.find_op(Effect::kLeavesHermetic);
  if (interpreter.find("leave_modes")) leave_modes_ = table_.find_op(Effect::kLeavesMode);
}

void Executor::prepare(const Program& program) {
  for (const Line& line : program.lines) evaluator_.compiled(line);
}

PyObject* Executor::value_of(int variable) const {
  return PyDict_GetItemWithError(interpreter_.names(), variables_[variable].get());
}

void Executor::run(const Program& program, Watcher& watcher) {
  hermetic_ = entered_ = 0;
  raised_.reset();
  compiled_.clear();
  evaluator_.forget(kLinesKept);
  for (const Line& line : program.lines) compiled_.push_back(&evaluator_.compiled(line));
  if (!compiled_.empty()) LineEvaluator::prefetch(*compiled_[0]);
  watcher.start(program);
  for (std::size_t index = 0; index < program.lines.size(); ++index) {
    const Line& line = program.lines[index];
    watcher.before_line(index, line);
    PyObject* raised = nullptr;
    if (index + 1 < compiled_.size()) LineEvaluator::prefetch(*compiled_[index + 1]);
    watchdog_.begin_line(index, line);
    const bool done = LineEvaluator::run(*compiled_[index]);
    watchdog_.end();
    if (done) {
      hermetic_ = hermetic_after(table_.ops()[line.op], line, hermetic_);
      entered_ = entered_after(table_.ops()[line.op], line, entered_);
    } else {
      raised = PyErr_Occurred();
      raised_.set(index);
    }
    watcher.after_line(index, line, raised);
    if (raised) PyErr_Clear();
  }
  // The empty program runs before any thread may be started.
  if (program.lines.empty()) return reset(program, watcher);
  watchdog_.begin_reset();
  reset(program, watcher);
  watchdog_.end();
}

void Executor::reset(const Program& program, Watcher& watcher) {
  dropped_ = {entered_, hermetic_, 0, bound_variables(program), has_owners(program), {}};
  reset_error_.reset();
  leave_modes();
  leave_hermetic();
  drop_variables(dropped_.variables);
  if (dropped_.owners && !Ref(PyObject_CallNoArgs(settle_.get()))) note_error("", "settle");
  // Repeat while a round finds something: what one round frees may have hidden more.
  for (std::size_t round = 0; round < kResetRoundMax; ++round) {
    const std::uint32_t lists = drop_held();
    dropped_.rounds.push_back(lists);
    if (collect() == 0 && lists == 0 && held_lists() == 0) break;
  }
  watcher.after_drop();
  for (PyObject* list : notes_) {
    CHECK(PyList_SetSlice(list, 0, PY_SSIZE_T_MAX, nullptr) == 0, "list");
  }
}

void Executor::leave_modes() {
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    if (entered_ >> lane & 1 && !evaluator_.run(leave_on(lane))) note_error("", "leave_modes");
  }
}

void Executor::leave_hermetic() {
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    if (!(hermetic_ >> lane & 1)) continue;
    if (!evaluator_.run(exit_on(lane))) {
      note_error("H1", "exit_hermetic");
    } else if (PyObject* assertion = asserts_left_[lane].get();
               assertion && !Ref(PyObject_CallNoArgs(assertion))) {
      dropped_.still_hermetic |= static_cast<LaneSet>(1u << lane);
      note_error("H1", "exit_hermetic");
    }
  }
}

void Executor::note_error(std::string contract, std::string step) {
  std::string error = take_error();
  if (!reset_error_) reset_error_ = {std::move(contract), std::move(step), std::move(error)};
}

std::string Executor::assert_left_on(std::size_t lane) const {
  std::string text(kLanePattern);
  text.replace(text.find("{1}"), 3, kAssertLeft);
  return text.replace(text.find("{0}"), 3, std::to_string(lane));
}

Line Executor::exit_on(std::size_t lane) const {
  CHECK(exit_hermetic_, "hermetic mode without an op that leaves it");
  return {*exit_hermetic_, {}, static_cast<std::uint8_t>(lane)};
}

Line Executor::leave_on(std::size_t lane) const {
  CHECK(leave_modes_ && table_.ops()[*leave_modes_].operands.empty(),
        "an op without operands that leaves all modes");
  return {*leave_modes_, {}, static_cast<std::uint8_t>(lane)};
}

bool Executor::has_owners(const Program& program) const {
  return std::any_of(program.lines.begin(), program.lines.end(), [&](const Line& line) {
    return table_.ops()[line.op].has(Effect::kMakesOwner);
  });
}

VariableSet Executor::bound_variables(const Program& program) const {
  VariableSet named = 0;
  for (const Line& line : program.lines) {
    const Op& op = table_.ops()[line.op];
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      if (op.operands[i].binds()) named |= VariableSet{1} << line.operands[i];
    }
  }
  VariableSet bound = 0;
  for (; named; named &= named - 1) {
    if (value_of(std::countr_zero(named))) bound |= named & -named;
  }
  return bound;
}

void Executor::drop_variables(VariableSet variables) {
  for (; variables; variables &= variables - 1) {
    PyObject* name = variables_[std::countr_zero(variables)].get();
    CHECK(PyDict_DelItem(interpreter_.names(), name) == 0, "namespace");
  }
}

std::uint32_t Executor::drop_held() {
  const std::uint32_t lists = held_lists();
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (!(lists >> i & 1)) continue;
    CHECK(PyList_SetSlice(held_[i].second, 0, PY_SSIZE_T_MAX, nullptr) == 0, "list");
  }
  return lists;
}

long Executor::collect() {
  const Ref found(PyObject_CallNoArgs(collect_.get()));
  if (!found) {
    note_error("", "gc.collect");
    return 0;
  }
  return PyLong_AsLong(found.get());
}

std::vector<std::string> Executor::reset_as_lines() const { return as_lines(dropped_); }

std::vector<std::string> Executor::reset_to_come(const Program& program) const {
  return as_lines(
      {entered_, hermetic_, 0, bound_variables(program), has_owners(program), {held_lists()}});
}

std::uint32_t Executor::held_lists() const {
  std::uint32_t lists = 0;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (PyList_GET_SIZE(held_[i].second) > 0) lists |= 1u << i;
  }
  return lists;
}

std::vector<std::string> Executor::as_lines(const Dropped& dropped) const {
  std::vector<std::string> lines;
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    if (dropped.entered >> lane & 1) lines.push_back(table_.print(leave_on(lane)));
    if (dropped.hermetic >> lane & 1) lines.push_back(table_.print(exit_on(lane)));
    if (dropped.still_hermetic >> lane & 1) lines.push_back(assert_left_on(lane));
  }
  std::string names;
  for (VariableSet left = dropped.variables; left; left &= left - 1) {
    names += (names.empty() ? "del " : ", ") + table_.variable_name(std::countr_zero(left));
  }
  if (!names.empty()) lines.push_back(names);
  if (dropped.owners) lines.push_back(kSettle);
  for (const std::uint32_t lists : dropped.rounds) {
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (lists >> i & 1) lines.push_back(held_[i].first + ".clear()");
    }
    lines.push_back("gc.collect()");
  }
  return lines;
}

}  // namespace slotfuzz
