// The engine's flags, and libFuzzer's entry points.
#include "harness/engine/serve/entry.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "harness/engine/check.h"
#include "harness/engine/planted/planted.h"
#include "harness/engine/process/stacks.h"
#include "harness/engine/serve/describe.h"
#include "harness/engine/serve/serve.h"
#include "harness/engine/serve/zygote.h"
#include "harness/engine/session/measure.h"

// Linked in: the core, or a mutant of it.
extern "C" PyObject* PyInit_slotcore();
extern "C" PyObject* PyInit_slotcore_c10();

__attribute__((used, section("__libfuzzer_extra_counters"))) static std::uint8_t
    extra_counters[slotfuzz::kStateCounters];

// The judge's ledger replaces LeakSanitizer, which would report CPython's own leaks. Programs are
// short, so a small quarantine keeps what they freed. A hunt needs no allocation stacks, since the
// driver replays a finding with them; quarantine and stacks would take a third of the time. CPython
// is not instrumented: freed memory must not look valid to it.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1:"
         "handle_abort=1:quarantine_size_mb=1:"
         "thread_local_quarantine_size_kb=256:malloc_context_size=1:"
         "max_free_fill_size=256:free_fill_byte=221";
}
// Without another sanitizer, libFuzzer links in UBSan's runtime only to report signals; crash.h
// does that instead.
extern "C" const char* __ubsan_default_options() {
  return slotfuzz::kHasSanitizer
             ? "print_stacktrace=1:halt_on_error=1"
             : "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0";
}
// libFuzzer prints in its signal handlers when it is stopped. That is not a finding, and TSan's
// report of it never ends. A child that a line forks may start threads (T8).
extern "C" const char* __tsan_default_options() {
  return "halt_on_error=1:exitcode=66:report_signal_unsafe=0:die_after_fork=0";
}

namespace slotfuzz {
namespace {

constexpr int kUsageExit = 2;

struct Flags {
  SessionOptions session;
  std::string recorder;
  std::string suppressions;
  std::string loaded;
  bool serve = false;
  bool spawn = false;
  bool describe = false;
  bool measure = false;
  std::string planted;
  std::string dump_recorder;
};

double read_seconds(const std::string& text) {
  // libc++ before 20, which a fleet may have, cannot read a double with from_chars.
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || !(seconds > 0)) {
    throw StartError("--line-seconds is a number above 0, not " + text);
  }
  return seconds;
}

Flags parse_flags(std::span<const std::string> words) {
  Flags flags;
  for (const std::string_view argument : words) {
    // A fleet passes a bare `--` before libFuzzer's own flags.
    if (!argument.starts_with("--") || argument == "--") continue;
    const auto equals = argument.find('=');
    const std::string_view name = argument.substr(2, equals - 2);
    const std::string value(equals == std::string_view::npos ? "" : argument.substr(equals + 1));
    if (name == "module")
      flags.session.interpreter.module = value;
    else if (name == "path")
      flags.session.interpreter.paths.push_back(value);
    else if (name == "snippets")
      flags.session.interpreter.snippets = value;
    else if (name == "ops")
      flags.session.ops = value;
    else if (name == "recorder")
      flags.recorder = value;
    else if (name == "suppressions")
      flags.suppressions = value;
    else if (name == "loaded")
      flags.loaded = value;
    else if (name == "imports")
      flags.session.imports = value;
    else if (name == "line-seconds")
      flags.session.line_seconds = read_seconds(value);
    else if (name == "serve")
      flags.serve = true;
    else if (name == "spawn")
      flags.spawn = true;
    else if (name == "describe")
      flags.describe = true;
    else if (name == "measure")
      flags.measure = true;
    else if (name == "planted")
      flags.planted = value;
    else if (name == "dump-recorder")
      flags.dump_recorder = value;
    else
      throw StartError("no such flag: " + std::string(argument));
  }
  return flags;
}

void dump(const nlohmann::json& document) {
  std::cout << document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
}

[[noreturn]] void finish(int code) {
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(code);
}

[[noreturn]] void refuse(const char* words) {
  std::cerr << "slotfuzz: " << words << "\n";
  finish(kUsageExit);
}

int plant(Session& session, const std::string& name) {
  const auto bugs = planted_bugs();
  const auto bug = std::find_if(bugs.begin(), bugs.end(),
                                [&](const Planted& planted) { return planted.name == name; });
  if (bug == bugs.end()) throw StartError("no planted bug " + name);
  run_planted(*bug, session.interpreter, session.executor, session.printer, session.judge,
              session.layout);
  const Verdict& verdict = session.judge.verdict();
  if (verdict.found()) std::cerr << verdict.describe();
  return verdict.found() ? 1 : 0;
}

}  // namespace

std::span<std::uint8_t, kStateCounters> state_counters() { return extra_counters; }

void Target::initialize(int* argc, char*** argv) {
  try {
    words_.assign(*argv, *argv + *argc);
    Flags flags = parse_flags(std::span(words_).subspan(1));
    flags.session.postcondition = postcondition_;
    flags.session.weights = weights_;
    if (!flags.dump_recorder.empty()) {
      const Recording recording = read_recording(flags.dump_recorder);
      dump({{"count", recording.count}, {"programs", recording.programs}});
      finish(0);
    }
    CHECK(PyImport_AppendInittab("slotcore", PyInit_slotcore) == 0, "inittab");
    CHECK(PyImport_AppendInittab("slotcore_c10", PyInit_slotcore_c10) == 0, "inittab");
    session_.emplace(flags.session, state_counters());
    if (flags.describe) dump(describe(*session_, name_, flags.session.interpreter.module));
    if (flags.measure) dump(measure(*session_));
    if (flags.serve) serve(*session_, name_, flags.session.interpreter.module);
    if (!flags.planted.empty()) finish(plant(*session_, flags.planted));
    if (flags.describe || flags.measure || flags.serve) finish(0);
    if (flags.spawn) {
      const std::vector<std::string> words = spawn(session_->late_imports);
      words_.resize(1);
      words_.insert(words_.end(), words.begin(), words.end());
      flags = parse_flags(words);
      for (std::string& word : words_) pointers_.push_back(word.data());
      pointers_.push_back(nullptr);
      *argc = static_cast<int>(words_.size());
      *argv = pointers_.data();
    }
    session_->start(flags.recorder, flags.suppressions, flags.loaded);
  } catch (const StartError& error) {
    refuse(error.what());
  } catch (const TableError& error) {
    refuse(error.what());
  }
}

int Target::test(std::string_view text) {
  if (!session_->run(session_->printer.parse(text))) return -1;
  if (session_->found()) {
    std::cerr << session_->judge.verdict().describe();
    std::abort();
  }
  return 0;
}

void Target::end_of_corpus() {
  // The driver subtracts this number from libFuzzer's count of programs.
  if (const auto spared = session_->end_of_corpus()) {
    std::cerr << "slotfuzz: " << *spared << " programs of the corpus did not run again"
              << std::endl;
  }
}

std::size_t Target::put(const Program& program, std::uint8_t* out, std::size_t size_max) {
  std::string text = session_->printer.print(program);
  if (text.size() > size_max) text.resize(text.rfind('\n', size_max - 1) + 1);
  std::memcpy(out, text.data(), text.size());
  return text.size();
}

std::size_t Target::mutate(std::uint8_t* data, std::size_t size, std::size_t size_max,
                           unsigned seed) {
  end_of_corpus();
  Rng rng(seed);
  const Program program = session_->printer.parse({reinterpret_cast<const char*>(data), size});
  return put(session_->mutator.mutate(program, rng), data, size_max);
}

std::size_t Target::cross(std::string_view first, std::string_view second, std::uint8_t* out,
                          std::size_t size_max, unsigned seed) {
  end_of_corpus();
  Rng rng(seed);
  const Program program =
      session_->mutator.cross(session_->printer.parse(first), session_->printer.parse(second), rng);
  return put(program, out, size_max);
}

}  // namespace slotfuzz
