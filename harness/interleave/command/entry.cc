// The libFuzzer functions of a protocol's target, and the settings of the sanitizers.

#include "harness/interleave/command/entry.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "harness/interleave/command/command.h"

// A race must not end the process: it is a finding to count and minimize. ThreadSanitizer must
// report the same race each time, or a replay would seem clean.
extern "C" const char* __tsan_default_options() {
  // libFuzzer saves the input in its handler of SIGABRT.
  return "halt_on_error=0:exitcode=66:suppress_equal_stacks=0:suppress_equal_addresses=0:"
         "report_signal_unsafe=0";
}
// A fake stack for each fibre of each run would make a run a hundred times slower.
extern "C" const char* __asan_default_options() {
  return "detect_stack_use_after_return=0:handle_abort=1:quarantine_size_mb=1:"
         "thread_local_quarantine_size_kb=256:malloc_context_size=8";
}
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1:halt_on_error=1"; }

namespace slotfuzz::interleave {

namespace {

constexpr int kUsageExit = 2;
// For each input: beyond this, another program is worth more than more schedules of this one.
constexpr uint64_t kExploredMax = 100;

[[noreturn]] void finish(int code) {
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(code);
}

[[noreturn]] void report(const Protocol& protocol, Engine engine, const Input& input,
                         const std::string& kind, const std::string& message,
                         const std::vector<TraceRow>& trace) {
  std::cerr << "slotfuzz: " << kind << ": " << message << "\n"
            << table_of(trace) << "programs " << programs_of(protocol, input.plan) << " from "
            << protocol.shapes[input.plan.shape].name << "\nschedule "
            << hex_of_run(protocol, engine, input) << std::endl;
  std::abort();
}

}  // namespace

void ProtocolTarget::initialize(int argc, char** argv) {
  try {
    const Command command = command_of(argc, argv);
    if (command.wanted) finish(run_command(protocol_, command));
  } catch (const UsageError& error) {
    std::cerr << "slotfuzz: " << error.what() << "\n";
    finish(kUsageExit);
  }
}

int ProtocolTarget::test(const uint8_t* data, size_t size) {
  const Input input = input_of_bytes(protocol_, data, size);
  auto real = protocol_.on_fibres(input.plan);
  if (auto failure = fibres_.replay(*real, input.schedule)) {
    // Replay the failure to get its table, unless the replay does not fail.
    failure = fibres_.replay(*real, input.schedule, true).value_or(*failure);
    report(protocol_, Engine::kFibres, {input.plan, failure->schedule}, failure->kind,
           words_of(failure->contract, failure->message), failure->trace);
  }
  // ThreadSanitizer would make the model slow, and finds nothing in it.
  if constexpr (__has_feature(thread_sanitizer)) return 0;
  auto model = protocol_.in_model(input.plan);
  const Replay run = replay(*model, input.schedule, execution_, false);
  std::optional<Failure> failure = run.failure;
  if (!failure) {
    Options options;
    options.executions_max = kExploredMax;
    failure = explore(*model, options, execution_).failure;
  }
  if (failure) {
    report(protocol_, Engine::kModel, {input.plan, failure->schedule}, name_of(failure->kind),
           words_of(failure->contract, failure->message), failure->trace);
  }
  return 0;
}

}  // namespace slotfuzz::interleave
