// Starting a session.
#include "harness/engine/session.h"

namespace slotfuzz {

Session::Session(const SessionOptions& options, std::span<std::uint8_t, kStateCounters> states)
    : weights(options.weights),
      line_seconds(options.line_seconds),
      interpreter(options.interpreter),
      executor(interpreter, printer),
      layout(interpreter),
      judge(interpreter, executor, table, layout, states),
      available(interpreter.available_ops(table, options.weights)),
      vocabulary(table, available, options.weights),
      postcondition(options.postcondition) {
  if (!options.known.empty()) known.add_folder(options.known, printer);
  if (!options.recorder.empty()) recorder.emplace(options.recorder);
  executor.watchdog().set_limit(options.line_seconds);
  interpreter.freeze();
  // The control run: what probing has left goes, and a subject that fails without a program shows
  // it.
  executor.run(Program(), judge);
}

bool Session::run(Program program) {
  mask(program);
  if (known.contains(program)) return false;
  if (recorder) recorder->write(printer.print(program));
  executor.run(program, judge);
  raises.note(program, executor.raised());
  if (postcondition) postcondition(table, program);
  return true;
}

void Session::mask(Program& program) const {
  program.dropped +=
      std::erase_if(program.lines, [&](const Line& line) { return !available[line.op]; });
}

}  // namespace slotfuzz
