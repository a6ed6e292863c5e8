// Starts a session.
#include "harness/engine/session/session.h"

namespace slotfuzz {
namespace {

// How many programs run before the folder of suppressions is looked at again.
constexpr std::uint64_t kRefreshPrograms = 64;

}  // namespace

std::vector<bool> unmasked(const std::vector<std::string>& masked) {
  std::vector<bool> available;
  for (const std::string& why : masked) available.push_back(why.empty());
  return available;
}

Session::Session(const SessionOptions& options, std::span<std::uint8_t, kStateCounters> states)
    : weights(options.weights),
      line_seconds(options.line_seconds),
      table(options.ops.empty() ? embedded_table() : read_table(options.ops)),
      interpreter(options.interpreter, options.weights),
      late_imports(interpreter, options.imports),
      executor(interpreter, printer),
      layout(interpreter),
      judge(interpreter, executor, table, layout, states),
      masked(interpreter.masked_ops(table, options.weights)),
      available(unmasked(masked)),
      vocabulary(table, available, options.weights),
      postcondition(options.postcondition),
      states_(states) {
  executor.watchdog().set_limit(options.line_seconds);
  interpreter.freeze();
  // The control run clears what probing left, and reveals a subject that fails without a program.
  executor.run(Program(), judge);
}

void Session::start(const std::string& recorder, const std::string& suppressions,
                    const std::string& loaded) {
  if (!loaded.empty()) loaded_.emplace(loaded);
  if (!suppressions.empty()) suppressions_.add_folder(suppressions, printer);
  suppressions_folder_ = suppressions;
  // With a recorder, the driver has the program; without one, as on a fleet, libFuzzer has it.
  if (recorder.empty())
    executor.watchdog().abort_on_hang();
  else
    recorder_.emplace(recorder);
}

bool Session::run(Program program) {
  mask(program);
  if (++programs_ % kRefreshPrograms == 0) refresh_suppressions();
  if (suppressions_.contains(program)) return false;
  const std::string text = recorder_ || loaded_ ? printer.print(program) : std::string();
  if (const auto* known = loaded_ ? loaded_->find(text) : nullptr) {
    ++spared_;
    mark(*known, states_);
    raises.note(program, known->raised);
    return true;
  }
  if (recorder_) recorder_->write(text);
  executor.run(program, judge);
  raises.note(program, executor.raised());
  if (postcondition) postcondition(table, program);
  if (judge.verdict().found()) return true;
  if (loaded_) loaded_->add(text, executor.raised(), states_);
  late_imports.note();
  return true;
}

std::optional<std::uint64_t> Session::end_of_corpus() {
  if (!loaded_) return std::nullopt;
  loaded_.reset();
  return spared_;
}

bool Session::found() const {
  const Verdict& verdict = judge.verdict();
  if (!verdict.found()) return false;
  // A broken promise is recognised by its program, not by its message.
  const bool is_error = verdict.kind == "exception" && verdict.contract.empty();
  return !is_error || !suppressions_.contains_error(verdict.message);
}

void Session::refresh_suppressions() {
  if (suppressions_folder_.empty()) return;
  std::error_code error;
  // A file that comes after this time changes it. The folder is gone when the hunt has ended.
  const auto time = std::filesystem::last_write_time(suppressions_folder_, error);
  if (error || time == suppressions_time_) return;
  suppressions_time_ = time;
  suppressions_.add_folder(suppressions_folder_, printer);
}

void Session::mask(Program& program) const {
  program.dropped +=
      std::erase_if(program.lines, [&](const Line& line) { return !available[line.op]; });
}

}  // namespace slotfuzz
