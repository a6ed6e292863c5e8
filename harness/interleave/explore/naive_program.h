// Random small programs for the comparison with the naive search.
#pragma once

#include <string>
#include <vector>

#include "harness/interleave/model/model_policy.h"
#include "harness/interleave/explore/naive.h"

namespace slotfuzz::interleave {

// splitmix64, Steele et al. 2014.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  int below(int bound) { return static_cast<int>(next() % static_cast<uint64_t>(bound)); }
  bool one_in(int n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

struct Instruction {
  enum class Kind {
    kLoad,
    kStore,
    kAdd,
    kExchange,
    kCompareExchange,
    kFence,
    kLock,
    kUnlock,
    kSkip,  // skips the next instruction if the last value read is the operand
    kRead,
    kWrite,
    kWait,  // for the condition `location`, with the mutex `operand`, which the thread holds
    kNotifyOne,
    kNotifyAll,
  };
  Kind kind;
  std::memory_order order = std::memory_order_relaxed;
  std::memory_order failure_order = std::memory_order_relaxed;
  int location = 0;
  int operand = 0;
  int expected = 0;
};

class RandomProgram final : public ObservedProgram {
 public:
  explicit RandomProgram(Random& random, Mix mix = Mix::kAny);

  int threads() const override { return static_cast<int>(bodies_.size()); }
  void set_up() override;
  void run(int thread) override;
  void finish() override;
  void tear_down() override;
  uint64_t outcome() const override { return outcome_; }

  bool has_conditions() const { return has_conditions_; }
  std::string text() const;

 private:
  static constexpr int kAtomics = 2;
  static constexpr int kMutexes = 2;
  static constexpr int kConditions = 2;

  struct Memory {
    ModelPolicy::atomic<uint32_t> atomics[kAtomics];
    ModelPolicy::var<uint32_t> plain;
    ModelPolicy::mutex mutexes[kMutexes];
    ModelPolicy::condition conditions[kConditions];
  };

  void add_instructions(Random& random, std::vector<Instruction>& body, int atomics);
  void add_conditions(Random& random, std::vector<Instruction>& body);
  void add_section(Random& random, std::vector<Instruction>& body, int atomics);
  void add_wait(Random& random, std::vector<Instruction>& body, int atomics);
  Instruction random_access(Random& random, int atomics);
  uint32_t execute(const Instruction& instruction, uint32_t last);

  std::vector<std::vector<Instruction>> bodies_;
  bool has_plain_ = false;
  bool has_conditions_ = false;
  Memory* memory_ = nullptr;
  uint64_t read_[kThreadsMax] = {};  // a hash of all values that a thread has read
  uint64_t outcome_ = 0;
};

}  // namespace slotfuzz::interleave
