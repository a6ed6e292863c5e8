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
    case Kind::kWait: return "wait";
    case Kind::kNotifyOne: return "notify_one";
    case Kind::kNotifyAll: return "notify_all";
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
RandomProgram::RandomProgram(Random& random, Mix mix) {
  const int threads = random.one_in(3) ? 2 : 3;
  if (mix == Mix::kConditions) {
    has_conditions_ = true;
    for (int thread = 0; thread < threads; ++thread) add_conditions(random, bodies_.emplace_back());
    return;
  }
  const int accesses_max = threads == 2 ? 4 : 3;
  const int atomics = random.one_in(3) ? 1 : kAtomics;
  has_plain_ = random.one_in(4);
  has_conditions_ = random.one_in(2);
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
  if (has_conditions_ && random.one_in(3)) {
    const Kind kind = random.one_in(2) ? Kind::kNotifyOne : Kind::kNotifyAll;
    if (random.one_in(2)) return add_wait(random, body, atomics);
    body.push_back({kind, kRelaxed, kRelaxed, random.one_in(4) ? 1 : 0});
    return;
  }
  if (!random.one_in(7)) {
    body.push_back(random_access(random, atomics));
    return;
  }
  add_section(random, body, atomics);
}

// A locked section, in which a second one may be nested: the reverse nesting in another thread is a
// deadlock. A skip must not skip the lock of a section alone, so it is removed.
void RandomProgram::add_section(Random& random, std::vector<Instruction>& body, int atomics) {
  if (!body.empty() && body.back().kind == Kind::kSkip) body.pop_back();
  const int outer = random.below(kMutexes);
  const bool nested = random.one_in(2);
  body.push_back({Kind::kLock, kRelaxed, kRelaxed, outer});
  if (nested) body.push_back({Kind::kLock, kRelaxed, kRelaxed, 1 - outer});
  if (!nested) body.push_back(random_access(random, atomics));
  if (nested) body.push_back({Kind::kUnlock, kRelaxed, kRelaxed, 1 - outer});
  body.push_back({Kind::kUnlock, kRelaxed, kRelaxed, outer});
}

// One or two of: a wait, a notification with or without the mutex, a store that waits look at.
void RandomProgram::add_conditions(Random& random, std::vector<Instruction>& body) {
  const int parts = 1 + random.below(2);
  for (int i = 0; i < parts; ++i) {
    const int location = random.one_in(6) ? 1 : 0;
    const Kind kind = random.one_in(3) ? Kind::kNotifyAll : Kind::kNotifyOne;
    switch (random.below(6)) {
      case 0:
      case 1: add_wait(random, body, 1); break;
      case 2:
        body.push_back({Kind::kLock});
        body.push_back({kind, kRelaxed, kRelaxed, location});
        body.push_back({Kind::kUnlock});
        break;
      case 3: body.push_back({Kind::kStore, kRelaxed, kRelaxed, 0, 1 + random.below(2)}); break;
      default: body.push_back({kind, kRelaxed, kRelaxed, location}); break;
    }
  }
}

// A wait is never without its mutex. Most programs wait only if a value is not there yet, as real
// ones do; a thread that waits for nothing is a deadlock.
void RandomProgram::add_wait(Random& random, std::vector<Instruction>& body, int atomics) {
  if (!body.empty() && body.back().kind == Kind::kSkip) body.pop_back();
  const int mutex = random.one_in(4) ? 1 : 0;
  body.push_back({Kind::kLock, kRelaxed, kRelaxed, mutex});
  if (!random.one_in(4)) {
    body.push_back({Kind::kLoad, kRelaxed, kRelaxed, random.below(atomics)});
    body.push_back({Kind::kSkip, kRelaxed, kRelaxed, 0, 1 + random.below(2)});
  }
  body.push_back({Kind::kWait, kRelaxed, kRelaxed, random.one_in(4) ? 1 : 0, mutex});
  body.push_back({Kind::kUnlock, kRelaxed, kRelaxed, mutex});
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
  auto& condition = memory_->conditions[instruction.location % kConditions];
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
    case Kind::kWait: condition.wait(memory_->mutexes[instruction.operand]); return last;
    case Kind::kNotifyOne: condition.notify_one(); return last;
    case Kind::kNotifyAll: condition.notify_all(); return last;
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
