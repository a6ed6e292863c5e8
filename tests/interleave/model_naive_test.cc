// Compares the reduced search with the naive one, on random programs.

#include <gtest/gtest.h>

#include "harness/interleave/explore/naive.h"

namespace slotfuzz::interleave {
namespace {

// The disabled test below compares 200,000 programs. This one compares some small programs for a
// few seeds, because ThreadSanitizer makes an execution twenty times slower.
constexpr uint64_t kSeeds[] = {1, 2, 3, 4, 5, 6, 7, 8};
constexpr uint64_t kSmallMax = 2000;
constexpr uint64_t kWaitingMax = 10'000;
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
constexpr uint64_t kProgramsPerSeed = 60;
#else
constexpr uint64_t kProgramsPerSeed = 400;
#endif

TEST(Naive, reduction_loses_no_graph_of_random_programs_and_repeats_none) {
  uint64_t failing = 0;
  for (uint64_t seed : kSeeds) {
    const Comparison comparison = compare_with_naive(kProgramsPerSeed, seed, kSmallMax);
    EXPECT_EQ(comparison.mismatch, "") << "seed " << seed;
    EXPECT_EQ(comparison.programs, kProgramsPerSeed);
    EXPECT_LT(comparison.skipped, kProgramsPerSeed);
    // The comparison is only meaningful if the reduction is large and little redundancy remains.
    EXPECT_GT(comparison.interleavings, 10 * comparison.graphs);
    EXPECT_LT(comparison.executions, comparison.graphs * 3 / 2);
    failing += comparison.with_failure;
  }
  EXPECT_GT(failing, 0u);
}

// Programs in which two threads wait for one condition have many interleavings, so these are fewer.
TEST(Naive, reduction_loses_no_graph_of_programs_that_wait_and_notify) {
  uint64_t failing = 0;
  for (uint64_t seed : kSeeds) {
    const Comparison comparison =
        compare_with_naive(kProgramsPerSeed / 4, seed, kWaitingMax, Mix::kConditions);
    EXPECT_EQ(comparison.mismatch, "") << "seed " << seed;
    EXPECT_EQ(comparison.with_conditions, kProgramsPerSeed / 4);
    EXPECT_LT(comparison.skipped, kProgramsPerSeed / 4);
    EXPECT_GT(comparison.interleavings, 5 * comparison.graphs);
    failing += comparison.with_failure;
  }
  EXPECT_GT(failing, 0u);
}

// Takes half an hour: --gtest_also_run_disabled_tests --gtest_filter='*two_hundred_thousand*'
TEST(Naive, DISABLED_two_hundred_thousand_programs) {
  for (uint64_t seed : {101, 202}) {
    const Comparison comparison = compare_with_naive(100'000, seed);
    EXPECT_EQ(comparison.mismatch, "");
    EXPECT_EQ(comparison.programs, 100'000u);
  }
}

// Takes ten minutes, with the larger limit: --gtest_filter='*twenty_thousand*'
TEST(Naive, DISABLED_twenty_thousand_programs_that_wait_and_notify) {
  const Comparison comparison =
      compare_with_naive(20'000, 303, 10 * kInterleavingsMax, Mix::kConditions);
  EXPECT_EQ(comparison.mismatch, "");
  EXPECT_EQ(comparison.programs, 20'000u);
}

}  // namespace
}  // namespace slotfuzz::interleave
