// Forks a child that narrates the program into a file, and leaves its results in shared memory.
#include "harness/engine/serve/serve_run.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "harness/engine/check.h"
#include "harness/engine/process/crash.h"
#include "harness/engine/process/shared_memory.h"
#include "harness/engine/process/stacks.h"
#include "harness/engine/serve/reply.h"
#include "harness/engine/serve/serve_child.h"

namespace slotfuzz {
namespace {

using nlohmann::json;

// A sanitizer's report is some kilobytes; the trace of a long program some hundred.
constexpr std::size_t kErrorBytesMax = 4 << 20;
// The exit code of a child whose judge has a verdict.
constexpr int kFindingExit = 77;

// The child writes its results to memory that it shares with its parent, so that they survive a
// crash.
struct Results {
  std::size_t line;
  CrashNote crash;
  char raised[kLineMax][40];
  bool complete;
  // JSON: a verdict, and the steps that the reset was about to do.
  char verdict[1 << 16];
  char reset[1 << 14];
  // JSON: what the program leaves, and which cycles keep it.
  char kept[1 << 16];
  // JSON: the threads of a hang.
  char threads[1 << 18];
};

template <std::size_t kSize>
void put(const json& document, char (&out)[kSize]) {
  const std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
  CHECK(text.size() < kSize, "a document of " << text.size() << " bytes");
  std::memcpy(out, text.c_str(), text.size() + 1);
}

// A deadlock shows in the innermost frames; the limits hold a document within Results. A frame is
// whole, because a part of one has no place.
constexpr std::size_t kThreadsMax = 16, kThreadFramesMax = 64, kThreadBytesMax = 1 << 13;

json threads_as_json(const std::vector<ThreadStack>& stacks) {
  json threads = json::array();
  for (std::size_t i = 0; i < std::min(stacks.size(), kThreadsMax); ++i) {
    json frames = json::array();
    std::size_t bytes = 0;
    for (const std::string& frame : stacks[i].frames) {
      bytes += frame.size();
      if (frames.size() == kThreadFramesMax || bytes > kThreadBytesMax) break;
      frames.push_back(frame);
    }
    threads.push_back({{"name", name_of(stacks[i], i)},
                       {"waits_for", word_of(stacks[i].waits_for)},
                       {"activity", activity_of(stacks[i].waits_for)},
                       {"frames", frames}});
  }
  return threads;
}

// Forwards to the judge, echoes each line and records what it raised; a traced run also prints the
// judge's observations.
class Narrator final : public Watcher {
 public:
  Narrator(Session& session, Results& results)
      : executor_(session.executor),
        judge_(session.judge),
        printer_(session.printer),
        results_(results),
        traces_(std::getenv("SLOTCORE_TRACE") != nullptr) {}

  void start(const Program& program) override {
    program_ = &program;
    judge_.start(program);
  }
  void before_line(std::size_t index, const Line& line) override {
    results_.line = index;
    say("> " + printer_.print(line) + "\n");
    judge_.before_line(index, line);
  }
  void after_line(std::size_t index, const Line& line, PyObject* raised) override {
    if (raised) {
      const char* name = reinterpret_cast<PyTypeObject*>(raised)->tp_name;
      const char* dot = std::strrchr(name, '.');
      std::strncpy(results_.raised[index], dot ? dot + 1 : name,
                   sizeof(results_.raised[index]) - 1);
      say(std::string("    raised ") + results_.raised[index] + "\n");
    }
    judge_.after_line(index, line, raised);
    if (traces_) say(judge_.observed());
    // From here on, events belong to the next line or to the reset.
    results_.line = index + 1;
    if (index + 1 < program_->lines.size()) return;
    say("> # every name is dropped, then gc.collect()\n");
    put(json(executor_.reset_to_come(*program_)), results_.reset);
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
  Results& results_;
  // Whether to print the judge's observations after each line, besides the core's trace.
  const bool traces_;
  const Program* program_ = nullptr;
};

[[noreturn]] void run_in_child(Session& session, const Program& program, Results& results) {
  Narrator narrator(session, results);
  session.executor.run(program, narrator);
  if (session.postcondition) session.postcondition(session.table, program);
  const Verdict& verdict = session.judge.verdict();
  put(verdict_as_json(verdict), results.verdict);
  put(kept_as_json(session.judge.kept()), results.kept);
  results.complete = true;
  std::_Exit(verdict.found() ? kFindingExit : 0);
}

std::string text_of_errors(int descriptor) {
  std::string text(kErrorBytesMax, '\0');
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  // Of a longer output the whole lines.
  if (text.size() == kErrorBytesMax) text.resize(text.rfind('\n') + 1);
  return text;
}

// The kind of finding of a child that ended before it set `complete`.
std::string kind_of_exit(int code) {
  if (code == kDeadlockExit) return "deadlock";
  return code == kHangExit ? "hang" : "exit";
}

}  // namespace

json run_program(Session& session, const json& request) {
  const std::string text = request.at("run");
  Program program = session.printer.parse(text);
  session.mask(program);
  const SharedMemory memory(sizeof(Results));
  Results& results = *memory.as<Results>();
  const int errors = memfd_create("stderr", MFD_CLOEXEC);
  CHECK(errors >= 0, "memfd_create: " << std::strerror(errno));
  const pid_t child = fork();
  CHECK(child >= 0, "fork: " << std::strerror(errno));
  if (child == 0) {
    dup2(errors, STDERR_FILENO);
    dup2(errors, STDOUT_FILENO);
    note_crashes(results.crash);
    if (request.contains("allocation_frames")) {
      keep_allocation_frames(request.at("allocation_frames"));
    }
    if (request.value("python_stacks", false)) act_at_death(&Watchdog::print_python_stacks);
    session.executor.watchdog().set_limit(
        request.value("line_seconds", std::min(session.line_seconds, kLineSecondsOfChild)));
    session.executor.watchdog().on_hang([&results](const std::vector<ThreadStack>& stacks) {
      put(threads_as_json(stacks), results.threads);
    });
    run_in_child(session, program, results);
  }
  int status = 0;
  const Ended ended = wait_for(child, request.value("timeout", kTimeoutSecondsDefault), status);
  if (ended == Ended::kKilled) {
    close(errors);
    return {{"killed", true}};
  }
  json reply = clean_reply(results.line);
  if (ended == Ended::kTooLate) {
    reply["kind"] = "timeout";
  } else if (WIFSIGNALED(status)) {
    reply["kind"] = "signal";
    reply["signal"] = WTERMSIG(status);
  } else if (!results.complete) {
    reply["kind"] = kind_of_exit(WEXITSTATUS(status));
    reply["exit"] = WEXITSTATUS(status);
  } else if (WEXITSTATUS(status) == kFindingExit) {
    reply.update(json::parse(results.verdict));
  }
  if (reply["kind"] != "") reply["outcome"] = "finding";
  // The reset crashed: the script must repeat the steps of the reset.
  if (!results.complete && results.reset[0]) reply["reset"] = json::parse(results.reset);
  if (results.threads[0]) reply["threads"] = json::parse(results.threads);
  if (results.kept[0]) reply["kept"] = json::parse(results.kept);
  reply["lines"] = lines_as_json(session.table, program);
  for (std::size_t i = 0; i < program.lines.size(); ++i)
    reply["lines"][i]["raised"] = results.raised[i];
  reply["dropped"] = program.dropped;
  report_dropped(session, text, request, true, reply);
  reply["stderr"] = text_of_errors(errors) + report_of(results.crash);
  close(errors);
  return reply;
}

}  // namespace slotfuzz
