// The fork server of serve.h.
#include "harness/engine/serve/serve.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "harness/engine/check.h"
#include "harness/engine/language/snippets.h"
#include "harness/engine/process/crash.h"
#include "harness/engine/process/stacks.h"
#include "harness/engine/planted/planted.h"
#include "harness/engine/serve/reply.h"
#include "harness/engine/serve/serve_child.h"
#include "harness/engine/serve/serve_observations.h"
#include "harness/engine/serve/serve_profile.h"
#include "harness/engine/session/state.h"

namespace slotfuzz {
namespace {

using nlohmann::json;

// A sanitizer's report is some kilobytes; the trace of a long program some hundred.
constexpr std::size_t kErrorBytesMax = 4 << 20;
// The most programs per child: running them takes several times as long as forking.
constexpr std::size_t kStatesMax = 512;
// The exit code of a child whose judge has a verdict.
constexpr int kFindingExit = 77;

// A child writes its results to memory that it shares with its parent, so that they survive a
// crash.
struct Shared {
  std::size_t line;
  CrashNote crash;
  char raised[kLineMax][40];
  bool complete;
  // JSON: a verdict, and the steps that the reset was about to do.
  char verdict[1 << 16];
  char reset[1 << 14];
  // For a child that runs many programs: the number that it finished, and the result of each.
  std::size_t done;
  bool found[kStatesMax];
  bool ran[kStatesMax];
  bool has_state[kStatesMax];
  std::uint64_t states[kStatesMax];
};

template <std::size_t kSize>
void put(const json& document, char (&out)[kSize]) {
  const std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
  CHECK(text.size() < kSize, "a document of " << text.size() << " bytes");
  std::memcpy(out, text.c_str(), text.size() + 1);
}

// Forwards to the judge, echoes each line and records what it raised; a traced run also prints the
// judge's observations.
class Narrator final : public Watcher {
 public:
  Narrator(Session& session, Shared& shared)
      : executor_(session.executor),
        judge_(session.judge),
        printer_(session.printer),
        shared_(shared),
        traces_(std::getenv("SLOTCORE_TRACE") != nullptr) {}

  void start(const Program& program) override {
    program_ = &program;
    judge_.start(program);
  }
  void before_line(std::size_t index, const Line& line) override {
    shared_.line = index;
    say("> " + printer_.print(line) + "\n");
    judge_.before_line(index, line);
  }
  void after_line(std::size_t index, const Line& line, PyObject* raised) override {
    if (raised) {
      const char* name = reinterpret_cast<PyTypeObject*>(raised)->tp_name;
      const char* dot = std::strrchr(name, '.');
      std::strncpy(shared_.raised[index], dot ? dot + 1 : name, sizeof(shared_.raised[index]) - 1);
      say(std::string("    raised ") + shared_.raised[index] + "\n");
    }
    judge_.after_line(index, line, raised);
    if (traces_) say(judge_.observed());
    // From here on, events belong to the next line or to the reset.
    shared_.line = index + 1;
    if (index + 1 < program_->lines.size()) return;
    say("> # every name is dropped, then gc.collect()\n");
    put(json(executor_.reset_to_come(*program_)), shared_.reset);
  }
  void after_drop() override {
    // The judge's reads may run deferred releases, which are not part of the program.
    if (traces_) say("    the end is judged\n");
    judge_.after_drop();
  }

 private:
  static void say(const std::string& words) {
    CHECK(write(STDERR_FILENO, words.data(), words.size()) >= 0, "stderr");
  }

  const Executor& executor_;
  Judge& judge_;
  Printer& printer_;
  Shared& shared_;
  // Whether to print the judge's observations after each line, besides the core's trace.
  const bool traces_;
  const Program* program_ = nullptr;
};

[[noreturn]] void run_in_child(Session& session, const Program& program, Shared& shared) {
  Narrator narrator(session, shared);
  session.executor.run(program, narrator);
  if (session.postcondition) session.postcondition(session.table, program);
  const Verdict& verdict = session.judge.verdict();
  put(verdict_as_json(verdict), shared.verdict);
  shared.complete = true;
  std::_Exit(verdict.found() ? kFindingExit : 0);
}

std::string read_all(int descriptor) {
  std::string text(kErrorBytesMax, '\0');
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return text;
}

// The kind of finding of a child that ended before it set `complete`.
std::string kind_of_exit(int code) {
  if (code == kDeadlockExit) return "deadlock";
  return code == kHangExit ? "hang" : "exit";
}

json run(Session& session, const json& request, Shared& shared) {
  const std::string text = request.at("run");
  Program program = session.printer.parse(text);
  session.mask(program);
  std::memset(&shared, 0, sizeof shared);
  const int errors = memfd_create("stderr", MFD_CLOEXEC);
  CHECK(errors >= 0, "memfd_create: " << std::strerror(errno));
  const pid_t child = fork();
  CHECK(child >= 0, "fork: " << std::strerror(errno));
  if (child == 0) {
    dup2(errors, STDERR_FILENO);
    dup2(errors, STDOUT_FILENO);
    note_crashes(shared.crash);
    if (request.contains("allocation_frames")) {
      keep_allocation_frames(request.at("allocation_frames"));
    }
    session.executor.watchdog().set_limit(
        request.value("line_seconds", std::min(session.line_seconds, kLineSecondsOfChild)));
    run_in_child(session, program, shared);
  }
  int status = 0;
  const Ended ended = wait_for(child, request.value("timeout", kTimeoutSecondsDefault), status);
  if (ended == Ended::kKilled) {
    close(errors);
    return {{"killed", true}};
  }
  json reply = clean_reply(shared.line);
  if (ended == Ended::kTooLate) {
    reply["kind"] = "timeout";
  } else if (WIFSIGNALED(status)) {
    reply["kind"] = "signal";
    reply["signal"] = WTERMSIG(status);
  } else if (!shared.complete) {
    reply["kind"] = kind_of_exit(WEXITSTATUS(status));
    reply["exit"] = WEXITSTATUS(status);
  } else if (WEXITSTATUS(status) == kFindingExit) {
    reply.update(json::parse(shared.verdict));
  }
  if (reply["kind"] != "") reply["outcome"] = "finding";
  // The reset crashed: the script must repeat the steps of the reset.
  if (!shared.complete && shared.reset[0]) reply["reset"] = json::parse(shared.reset);
  reply["lines"] = lines_as_json(session.table, program);
  for (std::size_t i = 0; i < program.lines.size(); ++i)
    reply["lines"][i]["raised"] = shared.raised[i];
  reply["dropped"] = program.dropped;
  tell_dropped(session, text, request, true, reply);
  reply["stderr"] = read_all(errors) + report_of(shared.crash);
  close(errors);
  return reply;
}

// Forwards to the judge, and reads the state after the last line.
class StateWatcher final : public Watcher {
 public:
  StateWatcher(Session& session, Shared& shared)
      : judge_(session.judge),
        reader_(session.interpreter, session.executor, session.table, session.layout,
                session.judge),
        has_states_(session.weights.thread == 0 && session.weights.interpreter == 0),
        shared_(shared) {}

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
    shared_.ran[shared_.done] = true;
    if (!has_states_) return;
    shared_.states[shared_.done] = reader_.read();
    shared_.has_state[shared_.done] = true;
  }

  Judge& judge_;
  const StateReader reader_;
  const bool has_states_;
  Shared& shared_;
  std::size_t left_ = 0;
};

[[noreturn]] void run_states_in_child(Session& session, const std::vector<Program>& programs,
                                      Shared& shared) {
  StateWatcher watcher(session, shared);
  // Clears objects left by compiling and by the first read; the first state would differ otherwise.
  session.executor.run(Program(), session.judge);
  for (const Program& program : programs) {
    session.executor.run(program, watcher);
    if (session.postcondition) session.postcondition(session.table, program);
    if ((shared.found[shared.done++] = session.judge.verdict().found())) break;
  }
  shared.complete = true;
  std::_Exit(0);
}

json run_states(Session& session, const json& request, Shared& shared) {
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
  std::memset(&shared, 0, sizeof shared);
  const pid_t child = fork();
  CHECK(child >= 0, "fork: " << std::strerror(errno));
  if (child == 0) {
    silence();
    session.executor.watchdog().set_limit(std::min(session.line_seconds, kLineSecondsOfChild));
    run_states_in_child(session, programs, shared);
  }
  int status = 0;
  const Ended ended = wait_for(child, request.value("timeout", kTimeoutSecondsDefault), status);
  if (ended == Ended::kKilled) return {{"killed", true}};
  json results = json::array();
  // If the child crashed, then it did so in the program after the finished ones.
  for (std::size_t i = 0; i < shared.done + !shared.complete; ++i) {
    const bool crashed = i == shared.done;
    results.push_back({{"outcome", crashed || shared.found[i] ? "finding" : "clean"},
                       {"crashed", crashed},
                       {"ran", shared.ran[i]},
                       {"state", nullptr}});
    if (shared.has_state[i]) results.back()["state"] = std::to_string(shared.states[i]);
  }
  return {{"programs", results}};
}

json answer(Session& session, const json& request, Shared& shared) {
  if (request.contains("states")) return run_states(session, request, shared);
  if (request.contains("run")) return run(session, request, shared);
  if (request.contains("facts")) return run_facts(session, request);
  if (request.contains("generate")) return generate(session, request);
  if (request.contains("profile")) return run_profile(session, request);
  if (request.contains("parse")) {
    const std::string text = request.at("parse");
    const Program program = session.printer.parse(text);
    json reply = {{"lines", lines_as_json(session.table, program)}, {"dropped", program.dropped}};
    tell_dropped(session, text, request, false, reply);
    return reply;
  }
  if (request.contains("extend")) {
    const Program program = session.printer.parse(request.at("extend").get<std::string>());
    json programs = json::array();
    Rng rng(request.value("seed", 1u));
    for (int i = 0; i < request.value("count", 0); ++i) {
      programs.push_back(session.printer.print(session.mutator.extend(program, rng)));
    }
    return {{"programs", programs}};
  }
  return {{"error", "no such request"}};
}

void reply_with(const json& document) {
  std::cout << document.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
}

// The effects of each value that has effects.
json value_effects(const Kind& kind) {
  json effects = json::object();
  for (std::size_t i = 0; i < kind.effects.size(); ++i) {
    if (const auto words = kind.effects[i].words(); !words.empty()) effects[kind.values[i]] = words;
  }
  return effects;
}

json prelude_as_json() {
  json snippets = json::array();
  for (const Snippet& snippet : prelude_snippets()) {
    json names = json::array(), effects = json::object();
    for (const SnippetName& name : snippet.names) {
      names.push_back(name.name);
      if (const auto words = name.effects.words(); !words.empty()) effects[name.name] = words;
    }
    snippets.push_back({{"names", names},
                        {"module", snippet.module},
                        {"sentence", snippet.sentence},
                        {"text", snippet.text},
                        {"effects", effects}});
  }
  return snippets;
}

// Whether the op is one of a target's own theme, which the target `storage` leaves out.
bool is_special(const Session& session, const Op& op) {
  return op.theme != Theme::kStorage && session.weights.of(op.theme) > 0;
}

}  // namespace

void serve(Session& session, std::string_view target, std::string_view module) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED, "mmap: " << std::strerror(errno));
  auto& shared = *static_cast<Shared*>(memory);
  reply_with({{"ready", true}});
  for (std::string line; std::getline(std::cin, line);) {
    const json request = json::parse(line, nullptr, false);
    if (!request.is_object()) {
      reply_with({{"error", "not a JSON object"}});
    } else if (request.contains("describe")) {
      reply_with(describe(session, target, module));
    } else {
      reply_with(answer(session, request, shared));
    }
  }
}

json describe(const Session& session, std::string_view target, std::string_view module) {
  json document = {{"target", target},
                   {"module", module},
                   {"python", PY_VERSION},
                   {"layout", session.layout.describe()},
                   {"prelude", prelude_as_json()},
                   {"line_max", kLineMax},
                   {"lanes", kLaneCount},
                   {"lane_template", kLanePattern},
                   {"starts_threads", session.weights.thread > 0}};
  const auto& kinds = session.table.kinds();
  for (const Kind& kind : kinds) {
    document["kinds"].push_back({{"letter", std::string(1, kind.letter)},
                                 {"name", kind.name},
                                 {"prefix", kind.is_variable() ? json(kind.prefix) : json()},
                                 {"values", kind.values},
                                 {"value_effects", value_effects(kind)},
                                 {"has_names", kind.has_names},
                                 {"count", kind.count}});
  }
  constexpr std::string_view kMarks[] = {"", "-", "=", "*", "+"};
  for (std::size_t i = 0; i < session.table.ops().size(); ++i) {
    const Op& op = session.table.ops()[i];
    json operands = json::array();
    for (const Operand& operand : op.operands) {
      operands.push_back(std::string(kMarks[static_cast<int>(operand.use)]) + operand.letter);
    }
    document["ops"].push_back({{"name", op.name},
                               {"operands", operands},
                               {"template", op.pattern},
                               {"needs", op.needs},
                               {"sentence", op.sentence},
                               {"theme", word_of(op.theme)},
                               {"tier", word_of(op.tier)},
                               {"effects", op.effects.words()},
                               {"attribute", op.attribute},
                               {"attribute_of_storage", op.attribute_of_storage},
                               {"rare", op.is_rare()},
                               {"slow", op.slow},
                               {"plain", op.plain},
                               {"special", is_special(session, op)},
                               {"masked", !session.available[i]}});
  }
  for (const Check& check : check_table()) {
    json planted = json::array();
    for (const PlantedProgram& program : check.planted) planted.push_back(program.name);
    document["checks"].push_back({{"contract", check.contract},
                                  {"check", check.name},
                                  {"text", check.text},
                                  {"planted", planted},
                                  {"unplanted", check.unplanted}});
  }
  for (const Planted& bug : planted_bugs()) {
    document["planted"].push_back(
        {{"name", bug.name}, {"oracle", bug.oracle}, {"expect", bug.expect}});
  }
  return document;
}

}  // namespace slotfuzz
