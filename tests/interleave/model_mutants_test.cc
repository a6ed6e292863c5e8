// The failures that the model finds in wrong protocols, and the length of the schedules that show
// them.

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

#include "harness/interleave/explore/explore.h"
#include "tests/interleave/model_claim.h"
#include "tests/interleave/model_disarm.h"
#include "tests/interleave/model_set_bit.h"
#include "tests/interleave/model_weak_lock.h"

namespace slotfuzz::interleave {
namespace {

constexpr int kCostMax = 2;
constexpr uint64_t kExecutionsMax = 467;

struct Mutant {
  const char* name;
  std::unique_ptr<Program> (*make)();
  FailureKind kind;
  size_t bytes_max = 6;
};

void PrintTo(const Mutant& mutant, std::ostream* out) { *out << mutant.name; }

template <auto fault>
std::unique_ptr<Program> claim() {
  return std::make_unique<ProgramOf<Claim<ModelPolicy>, int, ClaimFault>>(2, 2, fault);
}
template <auto fault>
std::unique_ptr<Program> disarm() {
  return std::make_unique<ProgramOf<Disarm<ModelPolicy>, int, DisarmFault>>(2, 1, fault);
}
template <auto fault, int lockers = 1>
std::unique_ptr<Program> weak_lock() {
  return std::make_unique<ProgramOf<WeakLock<ModelPolicy>, int, WeakLockFault>>(1 + lockers,
                                                                                lockers, fault);
}
template <auto fault>
std::unique_ptr<Program> set_bit() {
  return std::make_unique<ProgramOf<SetBit<ModelPolicy>, BitFault>>(2, fault);
}

// If no schedule of at most 6 bytes leads to the failure, the length of the shortest: a preemption
// that must come late needs a zero for each earlier choice.
const Mutant kMutants[] = {
    {"claim_no_release", claim<ClaimFault::kNoRelease>, FailureKind::kRace},
    {"claim_no_acquire", claim<ClaimFault::kNoAcquire>, FailureKind::kRace},
    {"claim_no_acquire_on_failure", claim<ClaimFault::kNoAcquireOnFailure>, FailureKind::kRace},
    {"claim_check_then_store", claim<ClaimFault::kCheckThenStore>, FailureKind::kRace},
    {"disarm_asks_once", disarm<DisarmFault::kAsksOnce>, FailureKind::kCheck},
    {"disarm_destructor_without_gil", disarm<DisarmFault::kNoGil>, FailureKind::kRace},
    {"disarm_without_gil", disarm<DisarmFault::kDisarmsWithoutGil>, FailureKind::kRace},
    {"weak_lock_forgets_fix_up", weak_lock<WeakLockFault::kForgetsFixUp, 2>, FailureKind::kCheck},
    {"weak_lock_takes_no_reference", weak_lock<WeakLockFault::kTakesNoReference>,
     FailureKind::kUseAfterFree},
    {"weak_lock_no_gil", weak_lock<WeakLockFault::kNoGil>, FailureKind::kUseAfterFree},
    {"weak_lock_slot_not_cleared", weak_lock<WeakLockFault::kSlotNotCleared>,
     FailureKind::kUseAfterFree},
    {"weak_lock_no_release", weak_lock<WeakLockFault::kNoRelease, 2>, FailureKind::kRace, 12},
    {"weak_lock_second_look", weak_lock<WeakLockFault::kSecondLook, 2>, FailureKind::kUseAfterFree,
     12},
    {"bit_no_fence", set_bit<BitFault::kNoFence>, FailureKind::kRace},
    {"bit_no_release", set_bit<BitFault::kNoRelease>, FailureKind::kRace},
    {"bit_before_slot", set_bit<BitFault::kBitBeforeSlot>, FailureKind::kCheck},
    {"bit_before_incref", set_bit<BitFault::kBitBeforeIncref>, FailureKind::kCheck},
};

class Mutants : public testing::TestWithParam<Mutant> {};

TEST_P(Mutants, are_found_with_a_small_schedule_that_replays) {
  const auto program = GetParam().make();
  Execution execution;
  const Result full = explore(*program, {}, execution);
  ASSERT_TRUE(full.failure.has_value());
  EXPECT_LE(full.executions, kExecutionsMax);
  const Result small = explore(*program, {.mode = Mode::kBounded}, execution);
  ASSERT_TRUE(small.failure.has_value());
  EXPECT_EQ(small.failure->kind, GetParam().kind) << small.failure->message << "\n"
                                                  << table_of(small.failure->trace);
  EXPECT_LE(*small.bound, kCostMax);
  EXPECT_LE(small.failure->schedule.size(), GetParam().bytes_max) << table_of(small.failure->trace);
  RecordProperty("executions", static_cast<int>(full.executions));
  RecordProperty("cost", *small.bound);
  RecordProperty("schedule", hex_of(small.failure->schedule));
  for (int i = 0; i < 100; ++i) {
    const Replay again = replay(*program, small.failure->schedule, execution);
    ASSERT_TRUE(again.failure.has_value());
    EXPECT_EQ(again.failure->message, small.failure->message);
    EXPECT_EQ(table_of(again.trace), table_of(small.failure->trace));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Mutants, testing::ValuesIn(kMutants),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(RightProtocols, the_mutants_are_not_wrong_by_themselves) {
  EXPECT_TRUE(explore(*claim<ClaimFault::kNone>()).is_verified());
  EXPECT_TRUE(explore(*disarm<DisarmFault::kNone>()).is_verified());
  EXPECT_TRUE(explore(*weak_lock<WeakLockFault::kNone, 2>()).is_verified());
  const Result bit = explore(*set_bit<BitFault::kNone>());
  EXPECT_TRUE(bit.is_verified()) << table_of(bit.failure->trace);
}

}  // namespace
}  // namespace slotfuzz::interleave
