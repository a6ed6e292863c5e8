// A run of a protocol as bytes, which a fuzzer mutates, and as text, which a person types.
//
//   input bytes    threads, shape, then per thread a length and its operations, then the schedule
//   hexadecimal    the protocol's id, the engine's number, then the input bytes
//   programs       wrap,check;own,die     operations of a thread between commas
//
// Any bytes are an input: a value that is too large is taken modulo its range, a missing one is 0.
#pragma once

#include <stdexcept>
#include <string>

#include "harness/interleave/explore/explore.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

// Text with a longer schedule is refused, and a fuzzer's bytes are cut: no run makes more choices.
constexpr size_t kScheduleMax = FibreScheduler::kTakenMax;

enum class Engine : uint8_t { kModel = 1, kFibres, kThreads, kYields };
constexpr Engine kEngines[] = {Engine::kModel, Engine::kFibres, Engine::kThreads, Engine::kYields};
const char* name_of(Engine engine);

// The user's input is invalid.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Input {
  Plan plan;
  Schedule schedule;
};

Input input_of_bytes(const Protocol& protocol, const uint8_t* data, size_t size);
Schedule bytes_of(const Input& input);

std::string hex_of_run(const Protocol& protocol, Engine engine, const Input& input);
struct Run {
  Engine engine;
  Input input;
};
// Throws UsageError.
Run run_of_hex(const Protocol& protocol, const std::string& hex);

std::string programs_of(const Protocol& protocol, const Plan& plan);
// Throws UsageError.
Plan plan_of_programs(const Protocol& protocol, const std::string& shape,
                      const std::string& programs);
Engine engine_of(const std::string& name);
int threads_of(const Protocol& protocol, const std::string& number);

}  // namespace slotfuzz::interleave
