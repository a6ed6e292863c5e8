// Programs per second: the bare line evaluator, the executor without a judge, and all of it. The
// programs are 20 lines long and well-formed; each benchmark runs the same ones.
//
//   build/address/bench/throughput [--module=torch] [flags of Google Benchmark]
#include <benchmark/benchmark.h>

#include <cstring>
#include <optional>

#include "harness/engine/session.h"

extern "C" PyObject* PyInit_slotcore();

namespace slotfuzz {
namespace {

constexpr std::size_t kPrograms = 512;
constexpr std::size_t kLines = 20;

std::uint8_t states[kStateCounters];
std::optional<Session> session;
std::vector<Program> programs;

class Nobody final : public Watcher {
 public:
  void start(const Program&) override {}
  void before_line(std::size_t, const Line&) override {}
  void after_line(std::size_t, const Line&, PyObject*) override {}
  void after_drop() override {}
};

// The lines and nothing else; names and lists are emptied, or the next program would be another
// one.
void run_bare(LineEvaluator& evaluator, const Program& program) {
  for (const Line& line : program.lines) {
    if (!evaluator.run(line)) PyErr_Clear();
  }
  PyObject* names = session->interpreter.names();
  for (int variable = 0; variable < session->table.variable_count(); ++variable) {
    if (!session->executor.value_of(variable)) continue;
    PyDict_DelItemString(names, session->table.variable_name(variable).c_str());
  }
  for (const auto& [name, list] : session->interpreter.prelude_lists()) {
    PyList_SetSlice(list, 0, PY_SSIZE_T_MAX, nullptr);
  }
}

Py_ssize_t tracked_objects() {
  const Ref objects = session->interpreter.evaluate("gc.get_objects()");
  return PyList_GET_SIZE(objects.get());
}

// Well-formed programs of kLines lines that leave nothing behind when they run bare: no cycle, and
// no hermetic mode that outlasts a line. All lines are on the main thread.
std::vector<Program> make_programs() {
  std::vector<bool> available = session->available;
  for (const char* name : {"enter_hermetic", "exit_hermetic"}) {
    available[*session->table.find_op(name)] = false;
  }
  const Vocabulary vocabulary(session->table, available, session->weights);
  const Mutator mutator(session->table, vocabulary);
  LineEvaluator evaluator(session->interpreter, session->printer);
  Rng rng(1);
  std::vector<Program> made;
  while (made.size() < kPrograms) {
    Program program = mutator.generate(rng);
    if (program.lines.size() < kLines) continue;
    program.lines.resize(kLines);
    for (Line& line : program.lines) line.lane = 0;
    const Py_ssize_t before = tracked_objects();
    run_bare(evaluator, program);
    if (tracked_objects() == before) made.push_back(std::move(program));
    session->executor.run(Program(), session->judge);
  }
  return made;
}

void count(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kPrograms));
}

void bare_lines(benchmark::State& state) {
  LineEvaluator evaluator(session->interpreter, session->printer);
  for (auto _ : state) {
    for (const Program& program : programs) run_bare(evaluator, program);
  }
  count(state);
}
BENCHMARK(bare_lines);

void with_reset(benchmark::State& state) {
  Nobody nobody;
  for (auto _ : state) {
    for (const Program& program : programs) session->executor.run(program, nobody);
  }
  count(state);
}
BENCHMARK(with_reset);

void with_reset_and_judge(benchmark::State& state) {
  for (auto _ : state) {
    for (const Program& program : programs) session->executor.run(program, session->judge);
  }
  count(state);
}
BENCHMARK(with_reset_and_judge);

void parse_mutate_print(benchmark::State& state) {
  std::vector<std::string> texts;
  for (const Program& program : programs) texts.push_back(session->printer.print(program));
  Rng rng(1);
  for (auto _ : state) {
    for (const std::string& text : texts) {
      const Program program = session->mutator.mutate(session->printer.parse(text), rng);
      benchmark::DoNotOptimize(session->printer.print(program));
    }
  }
  count(state);
}
BENCHMARK(parse_mutate_print);

}  // namespace
}  // namespace slotfuzz

int main(int argc, char** argv) {
  slotfuzz::SessionOptions options;
  constexpr std::string_view kModule = "--module=";
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with(kModule)) {
      options.interpreter.module = argv[i] + kModule.size();
    } else {
      argv[kept++] = argv[i];
    }
  }
  PyImport_AppendInittab("slotcore", PyInit_slotcore);
  slotfuzz::session.emplace(options, slotfuzz::states);
  slotfuzz::programs = slotfuzz::make_programs();
  benchmark::Initialize(&kept, argv);
  if (benchmark::ReportUnrecognizedArguments(kept, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
