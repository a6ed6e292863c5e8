// Parses and prints runs.

#include "harness/interleave/command/input.h"

#include <algorithm>
#include <charconv>

#include "harness/engine/check.h"

namespace slotfuzz::interleave {

namespace {

constexpr int kUsualThreadsMax = 4;

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), left_(size) {}
  // The next byte modulo `count`; 0 after the last byte.
  uint8_t below(int count) {
    if (left_ == 0) return 0;
    --left_;
    return static_cast<uint8_t>(*data_++ % count);
  }
  uint8_t between(int least, int most) {
    if (left_ == 0) return static_cast<uint8_t>(least);
    const int byte = *data_;
    // A few threads find most bugs, and an execution of many takes long: a larger number must be
    // asked for explicitly.
    const int usual = std::max(least, std::min(most, kUsualThreadsMax));
    if (byte < least || byte > most) return static_cast<uint8_t>(least + below(usual - least + 1));
    return below(256);
  }
  Schedule rest() const { return {data_, data_ + std::min(left_, kScheduleMax)}; }

 private:
  const uint8_t* data_;
  size_t left_;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

int index_of(const std::vector<Named>& table, const std::string& word, const char* what) {
  std::string known;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].name == word) return static_cast<int>(i);
    known += (i == 0 ? "" : ", ") + std::string(table[i].name);
  }
  throw UsageError(std::string("no ") + what + " '" + word + "'; known: " + known);
}

}  // namespace

const char* name_of(Engine engine) {
  switch (engine) {
    case Engine::kModel: return "model";
    case Engine::kFibres: return "fibres";
    case Engine::kThreads: return "threads";
    case Engine::kYields: return "yields";
  }
  CHECK(false, "no such engine: " << static_cast<int>(engine));
  return "";
}

Engine engine_of(const std::string& name) {
  for (Engine engine : kEngines) {
    if (name == name_of(engine)) return engine;
  }
  throw UsageError("no engine '" + name + "'; known: model, fibres, threads, yields");
}

Input input_of_bytes(const Protocol& protocol, const uint8_t* data, size_t size) {
  Bytes bytes(data, size);
  Input input;
  input.plan.threads = bytes.between(protocol.threads_least, kThreadsMax);
  input.plan.shape = bytes.below(static_cast<int>(protocol.shapes.size()));
  for (int thread = 0; thread < input.plan.threads; ++thread) {
    const int length = bytes.below(kOpsMax + 1);
    for (int i = 0; i < length; ++i) {
      input.plan.add(thread, bytes.below(static_cast<int>(protocol.ops.size())));
    }
  }
  input.schedule = bytes.rest();
  return input;
}

Schedule bytes_of(const Input& input) {
  Schedule bytes{input.plan.threads, input.plan.shape};
  for (int thread = 0; thread < input.plan.threads; ++thread) {
    const auto& ops = input.plan.ops[thread];
    bytes.push_back(input.plan.lengths[thread]);
    bytes.insert(bytes.end(), ops, ops + input.plan.lengths[thread]);
  }
  bytes.insert(bytes.end(), input.schedule.begin(), input.schedule.end());
  return bytes;
}

std::string hex_of_run(const Protocol& protocol, Engine engine, const Input& input) {
  Schedule bytes = bytes_of(input);
  bytes.insert(bytes.begin(), {protocol.id, static_cast<uint8_t>(engine)});
  return hex_of(bytes);
}

Run run_of_hex(const Protocol& protocol, const std::string& hex) {
  if (hex.size() % 2 != 0) throw UsageError("--schedule: an odd number of digits");
  const std::optional<Schedule> bytes = schedule_of(hex);
  if (!bytes) throw UsageError("--schedule: not hexadecimal digits: '" + hex.substr(0, 40) + "'");
  if (bytes->size() < 2) throw UsageError("--schedule: too short to say what it is for");
  if ((*bytes)[0] != protocol.id) {
    throw UsageError(std::string("--schedule: it is for another scenario than ") + protocol.name);
  }
  const uint8_t engine = (*bytes)[1];
  if (engine != 1 && engine != 2) {
    throw UsageError("--schedule: its second byte names no engine that replays (01 or 02)");
  }
  Run run{static_cast<Engine>(engine),
          input_of_bytes(protocol, bytes->data() + 2, bytes->size() - 2)};
  const size_t programs = bytes_of({run.input.plan, {}}).size() + 2;
  if (bytes->size() > programs + kScheduleMax) {
    throw UsageError("--schedule: too long: " + std::to_string(bytes->size() - programs) +
                     " bytes of schedule, at most " + std::to_string(kScheduleMax));
  }
  return run;
}

std::string programs_of(const Protocol& protocol, const Plan& plan) {
  std::string text;
  for (int thread = 0; thread < plan.threads; ++thread) {
    if (thread > 0) text += ';';
    for (int i = 0; i < plan.lengths[thread]; ++i) {
      if (i > 0) text += ',';
      text += protocol.ops[plan.ops[thread][i]].name;
    }
  }
  return text;
}

Plan plan_of_programs(const Protocol& protocol, const std::string& shape,
                      const std::string& programs) {
  Plan plan;
  if (!shape.empty()) {
    plan.shape = static_cast<uint8_t>(index_of(protocol.shapes, shape, "shape"));
  }
  const std::vector<std::string> threads = split(programs, ';');
  plan.threads = static_cast<uint8_t>(threads_of(protocol, std::to_string(threads.size())));
  for (int thread = 0; thread < plan.threads; ++thread) {
    if (threads[thread].empty()) continue;
    for (const std::string& op : split(threads[thread], ',')) {
      if (plan.lengths[thread] == kOpsMax) {
        throw UsageError("--programs: thread " + std::to_string(thread) + " has more than " +
                         std::to_string(kOpsMax) + " operations");
      }
      plan.add(thread, index_of(protocol.ops, op, "operation"));
    }
  }
  return plan;
}

int threads_of(const Protocol& protocol, const std::string& number) {
  int threads = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), threads);
  if (error != std::errc() || end != number.data() + number.size() ||
      threads < protocol.threads_least || threads > kThreadsMax) {
    throw UsageError("--threads=" + number + ": " + protocol.name + " has " +
                     std::to_string(protocol.threads_least) + " to " + std::to_string(kThreadsMax) +
                     " threads");
  }
  return threads;
}

}  // namespace slotfuzz::interleave
