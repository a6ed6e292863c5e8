// Runs many programs in one child, since a fork costs as much as several of them.
#include "harness/engine/serve/serve_observations.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "harness/engine/check.h"
#include "harness/engine/process/shared_memory.h"
#include "harness/engine/serve/serve_child.h"
#include "harness/engine/session/observations.h"

namespace slotfuzz {
namespace {

using nlohmann::json;

constexpr std::size_t kProgramsMax = 512;

// The results that a child writes for its parent.
struct Shared {
  std::size_t done;
  // The line that the current program runs.
  std::size_t line;
  std::uint64_t hashes[kProgramsMax];
  TracePlace traces[kProgramsMax];
};

// Records which line runs.
class Progress final : public Watcher {
 public:
  explicit Progress(Shared& shared) : shared_(shared) {}

  void start(const Program&) override { shared_.line = 0; }
  void before_line(std::size_t index, const Line&) override { shared_.line = index; }
  void after_line(std::size_t index, const Line&, PyObject*) override { shared_.line = index + 1; }
  void after_drop() override {}

 private:
  Shared& shared_;
};

// FNV-1a: the same in every process and on every machine.
std::uint64_t hash_of(const std::vector<Observation>& trace) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Observation& one : trace) {
    for (const char letter : one.raised + '\n' + one.seen)
      hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return hash;
}

[[noreturn]] void run_in_child(Session& session, const std::vector<Program>& programs,
                               Shared& shared, const std::string& question, KeptTraces& traces,
                               unsigned program_seconds) {
  silence();
  session.executor.watchdog().set_limit(std::min(session.line_seconds, kLineSecondsOfChild));
  Progress progress(shared);
  ObservationsWatcher observations(session.interpreter, &progress, question);
  while (shared.done < programs.size()) {
    alarm(program_seconds);  // the watchdog limits lines, but not the observations
    session.executor.run(programs[shared.done], observations);
    shared.hashes[shared.done] = hash_of(observations.trace());
    shared.traces[shared.done] = traces.write(observations.trace());
    ++shared.done;
    // The next collections then do not visit what this program has left, as the contract allows.
    session.interpreter.freeze();
  }
  std::_Exit(0);
}

// Runs the programs from shared.done on, up to the first that ends the process.
Ended run_some(Session& session, const std::vector<Program>& programs, Shared& shared,
               const std::string& question, KeptTraces& traces, double seconds,
               unsigned program_seconds) {
  const pid_t child = fork();
  CHECK(child >= 0, "fork: " << std::strerror(errno));
  if (child == 0) run_in_child(session, programs, shared, question, traces, program_seconds);
  int status = 0;
  return wait_for(child, seconds, status);
}

}  // namespace

json generate(const Session& session, const json& request) {
  const std::set<std::string> wanted = request.at("ops");
  std::vector<bool> chosen = session.available;
  for (std::size_t op = 0; op < chosen.size(); ++op) {
    if (!wanted.contains(std::string(session.table.ops()[op].name))) chosen[op] = false;
  }
  const Vocabulary vocabulary(session.table, chosen, session.weights);
  if (vocabulary.empty()) return {{"error", "no op to generate programs of"}};
  const Mutator mutator(session.table, vocabulary);
  Printer printer(session.table);
  Rng rng(request.value("seed", 1u));
  json programs = json::array();
  for (int i = 0; i < request.at("generate"); ++i) {
    programs.push_back(printer.print(mutator.generate(rng)));
  }
  return {{"programs", programs}};
}

json run_observations(Session& session, KeptTraces& traces, const json& request) {
  const std::vector<std::string> texts = request.at("observations");
  if (texts.size() > kProgramsMax) return {{"error", "too many programs"}};
  std::vector<Program> programs;
  for (const std::string& text : texts) {
    programs.push_back(session.printer.parse(text));
    session.mask(programs.back());
    session.executor.prepare(programs.back());
  }
  // The resets need not visit the objects that compiling created.
  session.interpreter.freeze();
  traces.clear();
  const SharedMemory memory(sizeof(Shared));
  Shared& shared = *memory.as<Shared>();
  const double seconds = request.value("timeout", kTimeoutSecondsDefault);
  const std::string question = request.value("question", "observe");
  json results = json::array();
  while (shared.done < programs.size()) {
    const std::size_t first = shared.done;
    const Ended ended = run_some(session, programs, shared, question, traces, seconds,
                                 request.at("program_seconds"));
    if (ended == Ended::kKilled) return {{"killed", true}};
    for (std::size_t i = first; i < shared.done; ++i) {
      traces.add(texts[i], shared.traces[i]);
      results.push_back({{"crashed", false},
                         {"line", programs[i].lines.size()},
                         {"hash", std::to_string(shared.hashes[i])}});
    }
    if (shared.done == programs.size()) break;
    results.push_back({{"crashed", true}, {"line", shared.line}, {"hash", nullptr}});
    ++shared.done;
  }
  return {{"programs", results}};
}

json read_traces(const KeptTraces& traces, const json& request) {
  json found = json::array();
  for (const std::string text : request.at("traces")) {
    found.push_back({{"after", traces.contains(text) ? traces.read(text) : json::array()}});
  }
  return {{"traces", found}};
}

}  // namespace slotfuzz
