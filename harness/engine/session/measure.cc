// Draws the programs, times their runs, and takes medians.
#include "harness/engine/session/measure.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>

#include "harness/engine/check.h"
#include "harness/engine/process/probe.h"
#include "harness/engine/process/shared_memory.h"

namespace slotfuzz {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPrograms = 512;
// A subject on which fewer than one in eight candidates are clean is not worth measuring.
constexpr std::size_t kCandidatesMax = 8 * kPrograms;
constexpr unsigned kSeed = 1;

double nanoseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

double median(std::vector<double>& samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

// Forwards to another watcher, if any, and records when the lines ended and how long the ledger
// took.
class Stopwatch final : public Watcher {
 public:
  explicit Stopwatch(Watcher* watcher) : watcher_(watcher) {}

  void start(const Program& program) override {
    begin_ = lines_end_ = Clock::now();
    line_count_ = program.lines.size();
    if (watcher_) watcher_->start(program);
  }
  void before_line(std::size_t index, const Line& line) override {
    if (watcher_) watcher_->before_line(index, line);
  }
  void after_line(std::size_t index, const Line& line, PyObject* raised) override {
    if (watcher_) watcher_->after_line(index, line, raised);
    if (index + 1 == line_count_) lines_end_ = Clock::now();
  }
  void after_drop() override {
    if (!watcher_) return;
    const auto before = Clock::now();
    watcher_->after_drop();
    ledger_ = Clock::now() - before;
  }

  Clock::duration lines() const { return lines_end_ - begin_; }
  Clock::duration ledger() const { return ledger_; }
  // The time since the last line.
  Clock::duration rest() const { return Clock::now() - lines_end_; }

 private:
  Watcher* watcher_;
  std::size_t line_count_ = 0;
  Clock::time_point begin_, lines_end_;
  Clock::duration ledger_{};
};

// Records how long each line took, and which lines raised.
class LineWatch final : public Watcher {
 public:
  struct Lap {
    double nanoseconds;
    bool raised;
  };

  void start(const Program&) override { laps_.clear(); }
  void before_line(std::size_t, const Line&) override { begin_ = Clock::now(); }
  void after_line(std::size_t, const Line&, PyObject* raised) override {
    laps_.push_back({nanoseconds(Clock::now() - begin_), raised != nullptr});
  }
  void after_drop() override {}

  const std::vector<Lap>& laps() const { return laps_; }

 private:
  Clock::time_point begin_;
  std::vector<Lap> laps_;
};

// The time to read the clock twice.
double clock_nanoseconds() {
  std::vector<double> samples(1001);
  for (double& sample : samples) {
    const auto before = Clock::now();
    sample = nanoseconds(Clock::now() - before);
  }
  return median(samples);
}

std::vector<Program> draw_candidates(const Session& session, Rng& rng) {
  std::vector<Program> drawn;
  while (drawn.size() < kCandidatesMax) {
    Program program = session.mutator.generate(rng);
    if (program.lines.size() < kMeasuredLines || has_lanes(program)) continue;
    program.lines.resize(kMeasuredLines);
    drawn.push_back(std::move(program));
  }
  return drawn;
}

long tracked_objects(const Session& session) {
  // A cycle in C++ leaves impls and no object of Python.
  const Ref count = session.interpreter.evaluate(
      "len(gc.get_objects()) + (T._live_impls() if hasattr(T, '_live_impls') else 0)");
  CHECK(count, "gc.get_objects: " << take_error());
  return PyLong_AsLong(count.get());
}

// Whether the judge finds nothing, and the program leaves nothing that only the judge cleans up.
bool is_clean(Session& session, const Program& program) {
  session.executor.run(program, session.judge);
  if (session.judge.verdict().found()) return false;
  const long before = tracked_objects(session);
  Stopwatch nobody(nullptr);
  session.executor.run(program, nobody);
  return tracked_objects(session) <= before;
}

struct Trial {
  std::size_t done;
  bool clean[kCandidatesMax];
};

// Runs the candidates in children, each until a candidate ends it, to find the clean ones.
void try_candidates(Session& session, const std::vector<Program>& candidates, Trial& trial) {
  while (trial.done < candidates.size()) {
    const pid_t child = fork();
    CHECK(child >= 0, "fork: " << std::strerror(errno));
    if (child == 0) {
      if (!std::freopen("/dev/null", "w", stderr)) std::_Exit(1);
      std::size_t clean = 0;
      for (std::size_t i = 0; i < trial.done; ++i) clean += trial.clean[i];
      while (trial.done < candidates.size() && clean < kPrograms) {
        if (!is_clean(session, candidates[trial.done])) break;
        trial.clean[trial.done++] = true;
        ++clean;
      }
      if (clean == kPrograms) trial.done = candidates.size();
      std::_Exit(0);
    }
    CHECK(waitpid(child, nullptr, 0) == child, "waitpid: " << std::strerror(errno));
    if (trial.done < candidates.size()) ++trial.done;
  }
}

std::vector<Program> draw_programs(Session& session, Rng& rng) {
  const std::vector<Program> candidates = draw_candidates(session, rng);
  const SharedMemory memory(sizeof(Trial));
  Trial& trial = *memory.as<Trial>();
  try_candidates(session, candidates, trial);
  std::vector<Program> programs;
  for (std::size_t i = 0; i < candidates.size() && programs.size() < kPrograms; ++i) {
    if (trial.clean[i]) programs.push_back(candidates[i]);
  }
  CHECK(programs.size() == kPrograms,
        "of " << kCandidatesMax << " programs only " << programs.size() << " are clean");
  return programs;
}

// Samples of one program, one for each round.
struct Samples {
  std::vector<double> lines, reset, judged, ledger, text;
  std::vector<double> of_line[kMeasuredLines];
  bool raised[kMeasuredLines];
};

// The passes of one round. Each pass runs all programs, so that all passes find equal caches.
void run_alone(Session& session, const Program& program, Samples& samples) {
  Stopwatch watch(nullptr);
  session.executor.run(program, watch);
  samples.reset.push_back(nanoseconds(watch.rest()));
  samples.lines.push_back(nanoseconds(watch.lines()));
}

void run_judged(Session& session, const Program& program, Samples& samples) {
  Stopwatch watch(&session.judge);
  session.executor.run(program, watch);
  samples.judged.push_back(nanoseconds(watch.lines()));
  samples.ledger.push_back(nanoseconds(watch.ledger()));
  CHECK(!session.judge.verdict().found(),
        session.printer.print(program) << session.judge.verdict().describe());
}

void run_lines(Session& session, const Program& program, Samples& samples) {
  LineWatch watch;
  session.executor.run(program, watch);
  for (std::size_t i = 0; i < kMeasuredLines; ++i) {
    samples.of_line[i].push_back(watch.laps()[i].nanoseconds);
    samples.raised[i] = watch.laps()[i].raised;
  }
}

void run_text(Session& session, const std::string& text, Rng& rng, Samples& samples) {
  const auto before = Clock::now();
  std::size_t size = session.printer.print(session.printer.parse(text)).size();
  size += session.printer.print(session.mutator.mutate(session.printer.parse(text), rng)).size();
  samples.text.push_back(nanoseconds(Clock::now() - before));
  CHECK(size > 0, "a program without text");
}

json parts_of(std::vector<Samples>& all) {
  double lines = 0, reset = 0, judge = 0, ledger = 0, text = 0;
  for (Samples& samples : all) {
    const double alone = median(samples.lines);
    lines += alone / kPrograms;
    reset += median(samples.reset) / kPrograms;
    judge += (median(samples.judged) - alone) / kPrograms;
    ledger += median(samples.ledger) / kPrograms;
    text += median(samples.text) / kPrograms;
  }
  return {{"lines", lines}, {"reset", reset}, {"judge", judge}, {"ledger", ledger}, {"text", text}};
}

json ops_of(const OpTable& table, const std::vector<Program>& programs, std::vector<Samples>& all) {
  struct Share {
    std::size_t lines = 0;
    double nanoseconds = 0;
  };
  std::map<std::pair<std::size_t, bool>, Share> shares;
  const double clock = clock_nanoseconds();
  for (std::size_t program = 0; program < programs.size(); ++program) {
    for (std::size_t i = 0; i < kMeasuredLines; ++i) {
      const Line& line = programs[program].lines[i];
      Share& share = shares[{line.op, all[program].raised[i]}];
      ++share.lines;
      share.nanoseconds += median(all[program].of_line[i]) - clock;
    }
  }
  json ops = json::array();
  for (const auto& [key, share] : shares) {
    const auto& [op, raised] = key;
    ops.push_back({{"op", table.ops()[op].name},
                   {"raised", raised},
                   {"collects", table.ops()[op].has(Effect::kCollects)},
                   {"lines", share.lines},
                   {"nanoseconds", share.nanoseconds}});
  }
  return ops;
}

}  // namespace

json measure(Session& session, std::size_t rounds) {
  Rng rng(kSeed);
  // The first programs teach the generator which lines raise; the programs after them are measured.
  for (const Program& program : draw_programs(session, rng)) session.run(program);
  const std::vector<Program> programs = draw_programs(session, rng);
  std::vector<std::string> texts;
  for (const Program& program : programs) texts.push_back(session.printer.print(program));
  std::vector<Samples> all(programs.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < kPrograms; ++i) run_alone(session, programs[i], all[i]);
    for (std::size_t i = 0; i < kPrograms; ++i) run_judged(session, programs[i], all[i]);
    for (std::size_t i = 0; i < kPrograms; ++i) run_lines(session, programs[i], all[i]);
    for (std::size_t i = 0; i < kPrograms; ++i) run_text(session, texts[i], rng, all[i]);
  }
  return {{"programs", programs.size()},
          {"lines", kMeasuredLines},
          {"parts", parts_of(all)},
          {"ops", ops_of(session.table, programs, all)}};
}

}  // namespace slotfuzz
