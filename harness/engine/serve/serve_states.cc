// Reads a state after the last line of each program, before the reset.
#include "harness/engine/serve/serve_states.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "harness/engine/check.h"
#include "harness/engine/process/shared_memory.h"
#include "harness/engine/serve/serve_child.h"
#include "harness/engine/session/state.h"

namespace slotfuzz {
namespace {

using nlohmann::json;

// The child writes its results to memory that it shares with its parent, so that they survive a
// crash.
struct StateResults {
  bool complete;
  // The number of programs that finished, and the result of each.
  std::size_t done;
  bool found[kStatesMax];
  bool ran[kStatesMax];
  bool has_state[kStatesMax];
  std::uint64_t states[kStatesMax];
};

// Forwards to the judge, and reads the state after the last line.
class StateWatcher final : public Watcher {
 public:
  StateWatcher(Session& session, StateResults& results)
      : judge_(session.judge),
        reader_(session.interpreter, session.executor, session.table, session.layout,
                session.judge),
        has_states_(session.weights.thread == 0 && session.weights.interpreter == 0),
        results_(results) {}

  void start(const Program& program) override {
    left_ = program.lines.size();
    judge_.start(program);
    if (left_ == 0) note();
  }
  void before_line(std::size_t index, const Line& line) override {
    judge_.before_line(index, line);
  }
  void after_line(std::size_t index, const Line& line, PyObject* raised) override {
    judge_.after_line(index, line, raised);
    // The executor clears the error after the line, so it is not part of the state.
    if (raised) PyErr_Clear();
    if (--left_ == 0) note();
  }
  void after_drop() override { judge_.after_drop(); }

 private:
  void note() {
    results_.ran[results_.done] = true;
    if (!has_states_) return;
    results_.states[results_.done] = reader_.read();
    results_.has_state[results_.done] = true;
  }

  Judge& judge_;
  const StateReader reader_;
  const bool has_states_;
  StateResults& results_;
  std::size_t left_ = 0;
};

[[noreturn]] void run_states_in_child(Session& session, const std::vector<Program>& programs,
                                      StateResults& results) {
  StateWatcher watcher(session, results);
  // Clears objects left by compiling and by the first read; the first state would differ otherwise.
  session.executor.run(Program(), session.judge);
  for (const Program& program : programs) {
    session.executor.run(program, watcher);
    if (session.postcondition) session.postcondition(session.table, program);
    if ((results.found[results.done++] = session.judge.verdict().found())) break;
  }
  results.complete = true;
  std::_Exit(0);
}

}  // namespace

json run_states(Session& session, const json& request) {
  const json& texts = request.at("states");
  if (texts.size() > kStatesMax) return {{"error", "too many programs"}};
  std::vector<Program> programs;
  for (const std::string text : texts) {
    programs.push_back(session.printer.parse(text));
    session.mask(programs.back());
    session.executor.prepare(programs.back());
  }
  // Objects that compiling created must count as older than the programs.
  session.interpreter.freeze();
  const SharedMemory memory(sizeof(StateResults));
  StateResults& results = *memory.as<StateResults>();
  const pid_t child = fork();
  CHECK(child >= 0, "fork: " << std::strerror(errno));
  if (child == 0) {
    silence();
    session.executor.watchdog().set_limit(std::min(session.line_seconds, kLineSecondsOfChild));
    run_states_in_child(session, programs, results);
  }
  int status = 0;
  const Ended ended = wait_for(child, request.value("timeout", kTimeoutSecondsDefault), status);
  if (ended == Ended::kKilled) return {{"killed", true}};
  json answers = json::array();
  // If the child crashed, then it did so in the program after the finished ones.
  for (std::size_t i = 0; i < results.done + !results.complete; ++i) {
    const bool crashed = i == results.done;
    answers.push_back({{"outcome", crashed || results.found[i] ? "finding" : "clean"},
                       {"crashed", crashed},
                       {"ran", results.ran[i]},
                       {"state", nullptr}});
    if (results.has_state[i]) answers.back()["state"] = std::to_string(results.states[i]);
  }
  return {{"programs", answers}};
}

}  // namespace slotfuzz
