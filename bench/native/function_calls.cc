// The cost of calls of a custom Function and of backwards in the core: one iteration is one call of
// a function of bench/programs/function_calls.py, on the main thread and under the GIL.
//
//   build/plain/bench/function_calls [flags of Google Benchmark] PROGRAM.py NAME [NAME...]
#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>

#include "harness/engine/check.h"
#include "harness/engine/run/interpreter.h"

extern "C" PyObject* PyInit_slotcore();

namespace slotfuzz {
namespace {

std::string text_of(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void call(benchmark::State& state, PyObject* function) {
  for (auto _ : state) {
    const Ref result(PyObject_CallNoArgs(function));
    CHECK(result, take_error());
  }
}

}  // namespace
}  // namespace slotfuzz

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc < 3) return 2;
  PyImport_AppendInittab("slotcore", PyInit_slotcore);
  slotfuzz::InterpreterOptions options;
  options.snippets = slotfuzz::text_of(argv[1]);
  const slotfuzz::Interpreter interpreter(options, {.autograd = 1});
  for (int at = 2; at < argc; ++at) {
    PyObject* function = interpreter.find(argv[at]);
    CHECK(function, argv[1] << " has no " << argv[at]);
    benchmark::RegisterBenchmark(argv[at],
                                 [=](auto& state) { slotfuzz::call(state, function); });
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
