// The c10 subject: the inline code of the installed libtorch, unmodified, under schedules that the
// input chooses. A libFuzzer binary; its own flags begin with two dashes, which libFuzzer skips:
//   --describe                  the scenarios with their operations as JSON, and the sizes of impls
//   --scenario=NAME             claim (default), weak-claim, counts, disarm or load
//   --threads=SECONDS           runs random programs on real threads instead, --seed=N
//   --explain                   prints the program and the schedule of an input before it runs, and
//                               each access to an atomic of libtorch's headers
// An input is: a byte for the number of threads; for each thread a byte for the number of its
// operations, and the operations; then the schedule (Note [Thread bytes] in harness/interleave).

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <thread>

#include "targets/c10/scenario.h"
#include "targets/c10/slot.h"

namespace slotfuzz::c10_subject {
namespace {

using interleave::FibreScheduler;

struct Input {
  Plan plan;
  const uint8_t* schedule;
  size_t schedule_size;
};

Input parse(const uint8_t* data, size_t size) {
  auto next = [&]() -> uint8_t {
    if (size == 0) return 0;
    --size;
    return *data++;
  };
  Input input;
  input.plan.threads = 2 + next() % (kThreadsMax - 1);
  for (int thread = 0; thread < input.plan.threads; ++thread) {
    const int count = next() % (kOpsMax + 1);
    for (int i = 0; i < count; ++i) input.plan.ops[thread].push_back(next());
  }
  input.schedule = data;
  input.schedule_size = size;
  return input;
}

class Target {
 public:
  Target() {
    scheduler_.begin_observing();
    // Otherwise an error of c10 would look up the names of all functions on the stack.
    c10::SetStackTraceFetcher([] { return std::string(); });
  }
  ~Target() { scheduler_.end_observing(); }

  bool choose(std::string_view name) {
    for (const Kind& kind : kinds()) {
      if (kind.name == name) kind_ = &kind;
    }
    return kind_->name == name;
  }

  void explain() { Explained::on = true; }

  void run(const uint8_t* data, size_t size) {
    const Input input = parse(data, size);
    if (Explained::on) print(input.plan, "runs", {input.schedule, input.schedule_size});
    const uint64_t reports = interleave::thread_reports();
    auto scenario = kind_->make(input.plan);
    const auto ending = scheduler_.run(
        input.plan.threads, [&](int thread) { scenario->run(thread); }, input.schedule,
        input.schedule_size);
    const char* wrong = scheduler_.message();
    if (ending == FibreScheduler::Ending::kDeadlock) wrong = "all threads wait";
    if (ending == FibreScheduler::Ending::kTooLong) wrong = "no end";
    if (wrong == nullptr) wrong = scenario->finish();
    if (wrong == nullptr && interleave::thread_reports() != reports) wrong = "a data race";
    if (wrong == nullptr) return;
    print(input.plan, wrong, scheduler_.taken());
    std::abort();
  }

  // Returns when the time is over; a report of a sanitizer ends the process earlier.
  void run_threads(double seconds, uint64_t seed) const {
    std::mt19937_64 random(seed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    uint64_t runs = 0;
    for (; std::chrono::steady_clock::now() < end; ++runs) {
      std::array<uint8_t, 1 + kThreadsMax*(1 + kOpsMax)> bytes;
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
      const Input input = parse(bytes.data(), bytes.size());
      auto scenario = kind_->make(input.plan);
      std::vector<std::thread> threads;
      for (int thread = 0; thread < input.plan.threads; ++thread)
        threads.emplace_back([&scenario, thread] { scenario->run(thread); });
      for (std::thread& thread : threads) thread.join();
      if (const char* wrong = scenario->finish()) {
        print(input.plan, wrong, {});
        std::abort();
      }
    }
    std::printf("{\"scenario\": \"%s\", \"runs\": %llu}\n", kind_->name.data(),
                static_cast<unsigned long long>(runs));
  }

 private:
  void print(const Plan& plan, const char* wrong, std::span<const uint8_t> schedule) const {
    std::fprintf(stderr, "c10: %s: %s\n", kind_->name.data(), wrong);
    for (int thread = 0; thread < plan.threads; ++thread) {
      std::fprintf(stderr, "  thread %d:", thread);
      for (uint8_t op : plan.ops[thread])
        std::fprintf(stderr, " %s", kind_->ops[op % kind_->ops.size()].data());
      std::fprintf(stderr, "\n");
    }
    std::fprintf(stderr, "  schedule:");
    for (uint8_t byte : schedule) std::fprintf(stderr, " %02x", byte);
    std::fprintf(stderr, "\n");
  }

  FibreScheduler scheduler_;
  const Kind* kind_ = &kinds().front();
};

void describe() {
  std::printf("{\"scenarios\": [");
  const char* separator = "";
  for (const Kind& kind : kinds()) {
    std::printf("%s{\"name\": \"%s\", \"sentence\": \"%s\", \"ops\": [", separator,
                kind.name.data(), kind.sentence.data());
    const char* comma = "";
    for (std::string_view op : kind.ops) {
      std::printf("%s\"%s\"", comma, op.data());
      comma = ", ";
    }
    std::printf("]}");
    separator = ", ";
  }
  std::printf("], \"slot_is_a_struct\": %s, \"tensor_bytes\": %zu, \"storage_bytes\": %zu}\n",
              SLOTFUZZ_C10_SLOT_IS_A_STRUCT ? "true" : "false", sizeof(c10::TensorImpl),
              sizeof(c10::StorageImpl));
}

[[noreturn]] void refuse(const std::string& what) {
  std::fprintf(stderr, "c10: %s\n", what.c_str());
  std::exit(2);
}

// Parses a number; ends the process with a message if it is not one.
double number_of(const std::string& flag, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || value < 0)
    refuse(flag + " takes a number, not '" + text + "'");
  return value;
}

Target& target() {
  static Target only;
  return only;
}

void initialize(int argc, char** argv) {
  double seconds = -1;
  double seed = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--", 0) != 0) continue;
    const size_t equals = word.find('=');
    const std::string flag = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (flag == "--describe") {
      describe();
      std::exit(0);
    } else if (flag == "--scenario") {
      if (!target().choose(value)) refuse("no scenario '" + value + "'; --describe lists them");
    } else if (flag == "--explain") {
      target().explain();
    } else if (flag == "--threads") {
      seconds = number_of(flag, value);
    } else if (flag == "--seed") {
      seed = number_of(flag, value);
    } else {
      refuse("unknown flag " + flag);
    }
  }
  if (seconds < 0) return;
  target().run_threads(seconds, static_cast<uint64_t>(seed));
  std::exit(0);
}

}  // namespace
}  // namespace slotfuzz::c10_subject

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  slotfuzz::c10_subject::initialize(*argc, *argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  slotfuzz::c10_subject::target().run(data, size);
  return 0;
}
