// Makes and runs random programs. They have few locations and values, so that threads interact.

#include "harness/interleave/explore/naive_program.h"

#include "harness/engine/check.h"

namespace slotfuzz::interleave {

namespace {

using Kind = Instruction::Kind;

std::memory_order random_order(Random& random, std::initializer_list<std::memory_order> orders) {
  return orders.begin()[random.below(static_cast<int>(orders.size()))];
}

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kLoad: return "load";
    case Kind::kStore: return "store";
    case Kind::kAdd: return "add";
    case Kind::kExchange: return "exchange";
    case Kind::kCompareExchange: return "compare_exchange";
    case Kind::kFence: return "fence";
    case Kind::kLock: return "lock";
    case Kind::kUnlock: return "unlock";
    case Kind::kSkip: return "skip_if";
    case Kind::kRead: return "read";
    case Kind::kWrite: return "write";
  }
  CHECK(false, "no such instruction: " << static_cast<int>(kind));
  return "";
}

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcqRel = std::memory_order_acq_rel;

uint64_t mixed(uint64_t before, uint64_t value) { return Random(before * 31 + value).next(); }

}  // namespace

// The naive search takes time exponential in the number of operations.
RandomProgram::RandomProgram(Random& random) {
  const int threads = random.one_in(3) ? 2 : 3;
  const int accesses_max = threads == 2 ? 4 : 3;
  const int atomics = random.one_in(3) ? 1 : kAtomics;
  has_plain_ = random.one_in(4);
  for (int thread = 0; thread < threads; ++thread) {
    std::vector<Instruction>& body = bodies_.emplace_back();
    const int accesses = 1 + random.below(accesses_max);
    for (int i = 0; i < accesses; ++i) add_instructions(random, body, atomics);
  }
}

void RandomProgram::add_instructions(Random& random, std::vector<Instruction>& body, int atomics) {
  if (random.one_in(6)) {
    body.push_back({Kind::kFence, random_order(random, {kAcquire, kRelease, kAcqRel})});
  }
  if (has_plain_ && random.one_in(3)) {
    body.push_back({random.one_in(2) ? Kind::kRead : Kind::kWrite});
    return;
  }
  if (random.one_in(5)) {
    body.push_back({Kind::kSkip, kRelaxed, kRelaxed, 0, random.below(2)});
  }
  if (!random.one_in(7)) {
    body.push_back(random_access(random, atomics));
    return;
  }
  // Adds a locked section, in which a second one may be nested: the reverse nesting in another
  // thread is a deadlock. A skip must not skip the lock of a section alone, so it is removed.
  if (!body.empty() && body.back().kind == Kind::kSkip) body.pop_back();
  const int outer = random.below(kMutexes);
  const bool nested = random.one_in(2);
  body.push_back({Kind::kLock, kRelaxed, kRelaxed, outer});
  if (nested) body.push_back({Kind::kLock, kRelaxed, kRelaxed, 1 - outer});
  if (!nested) body.push_back(random_access(random, atomics));
  if (nested) body.push_back({Kind::kUnlock, kRelaxed, kRelaxed, 1 - outer});
  body.push_back({Kind::kUnlock, kRelaxed, kRelaxed, outer});
}

Instruction RandomProgram::random_access(Random& random, int atomics) {
  const int location = random.below(atomics);
  const int operand = random.below(2) + 1;
  switch (random.below(7)) {
    case 0:
    case 1: return {Kind::kLoad, random_order(random, {kRelaxed, kAcquire}), kRelaxed, location};
    case 2:
    case 3:
      return {Kind::kStore, random_order(random, {kRelaxed, kRelease}), kRelaxed, location,
              operand};
    case 4:
      return {Kind::kAdd, random_order(random, {kRelaxed, kAcquire, kRelease, kAcqRel}), kRelaxed,
              location, operand};
    case 5:
      return {Kind::kExchange, random_order(random, {kRelaxed, kAcquire, kRelease, kAcqRel}),
              kRelaxed, location, operand};
    default:
      return {Kind::kCompareExchange,
              random_order(random, {kRelaxed, kAcquire, kRelease, kAcqRel}),
              random_order(random, {kRelaxed, kAcquire}),
              location,
              operand,
              random.below(3)};
  }
}

void RandomProgram::set_up() {
  memory_ = ModelPolicy::make<Memory>();
  for (uint64_t& read : read_) read = 0;
}

uint32_t RandomProgram::execute(const Instruction& instruction, uint32_t last) {
  auto& atomic = memory_->atomics[instruction.location % kAtomics];
  auto& mutex = memory_->mutexes[instruction.location % kMutexes];
  const auto operand = static_cast<uint32_t>(instruction.operand);
  switch (instruction.kind) {
    case Kind::kLoad: return atomic.load(instruction.order);
    case Kind::kStore: atomic.store(operand, instruction.order); return last;
    case Kind::kAdd: return atomic.fetch_add(operand, instruction.order);
    case Kind::kExchange: return atomic.exchange(operand, instruction.order);
    case Kind::kCompareExchange: {
      auto expected = static_cast<uint32_t>(instruction.expected);
      atomic.compare_exchange_strong(expected, operand, instruction.order,
                                     instruction.failure_order);
      return expected;
    }
    case Kind::kFence: ModelPolicy::fence(instruction.order); return last;
    case Kind::kLock: mutex.lock(); return last;
    case Kind::kUnlock: mutex.unlock(); return last;
    case Kind::kSkip: return last;
    // The value of a plain read does not matter: if it varies, there is a race.
    case Kind::kRead: memory_->plain.load(); return last;
    case Kind::kWrite: memory_->plain.store(1); return last;
  }
  CHECK(false, "no such instruction: " << static_cast<int>(instruction.kind));
  return 0;
}

void RandomProgram::run(int thread) {
  uint32_t last = 0;
  const std::vector<Instruction>& body = bodies_[thread];
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i].kind == Kind::kSkip) {
      if (last == static_cast<uint32_t>(body[i].operand)) ++i;
      continue;
    }
    last = execute(body[i], last);
    read_[thread] = mixed(read_[thread], last);
  }
}

void RandomProgram::finish() {
  outcome_ = 0;
  for (uint64_t read : read_) outcome_ = mixed(outcome_, read);
  for (auto& atomic : memory_->atomics) outcome_ = mixed(outcome_, atomic.load(kRelaxed));
}

void RandomProgram::tear_down() { ModelPolicy::destroy(memory_); }

std::string RandomProgram::text() const {
  std::string text;
  for (const auto& body : bodies_) {
    text += "thread:\n";
    for (const Instruction& instruction : body) {
      text += std::string("  ") + name_of(instruction.kind) + " location " +
              std::to_string(instruction.location) + " operand " +
              std::to_string(instruction.operand) + " expected " +
              std::to_string(instruction.expected) + " order " +
              std::to_string(static_cast<int>(instruction.order)) + " failure order " +
              std::to_string(static_cast<int>(instruction.failure_order)) + "\n";
    }
  }
  return text;
}

}  // namespace slotfuzz::interleave
