// The model on programs that pass a message: what an acquiring reader sees of what another thread
// did before a release, and which plain accesses race.

#include <gtest/gtest.h>

#include "tests/interleave/model_litmus.h"

namespace slotfuzz::interleave {
namespace {

Litmus message_passing(std::memory_order store, std::memory_order load) {
  return {2,
          {[store](Memory& m, int*) {
             m.x.store(1, kRelaxed);
             m.y.store(1, store);
           },
           [load](Memory& m, int* r) {
             r[0] = m.y.load(load);
             r[1] = m.x.load(kRelaxed);
           }}};
}

TEST(Litmus, a_message_arrives_only_with_release_and_acquire) {
  EXPECT_EQ(outcomes_of(message_passing(kRelease, kAcquire)), (Outcomes{0, 1, 11}));
  EXPECT_EQ(outcomes_of(message_passing(kRelaxed, kAcquire)), (Outcomes{0, 1, 10, 11}));
  EXPECT_EQ(outcomes_of(message_passing(kRelease, kRelaxed)), (Outcomes{0, 1, 10, 11}));
  EXPECT_EQ(outcomes_of(message_passing(kRelaxed, kRelaxed)), (Outcomes{0, 1, 10, 11}));
}

Litmus message_with_fences(bool release, bool acquire) {
  return {2,
          {[release](Memory& m, int*) {
             m.x.store(1, kRelaxed);
             if (release) P::fence(kRelease);
             m.y.store(1, kRelaxed);
           },
           [acquire](Memory& m, int* r) {
             r[0] = m.y.load(kRelaxed);
             if (acquire) P::fence(kAcquire);
             r[1] = m.x.load(kRelaxed);
           }}};
}

TEST(Litmus, fences_pass_a_message_and_both_are_needed) {
  EXPECT_EQ(outcomes_of(message_with_fences(true, true)), (Outcomes{0, 1, 11}));
  EXPECT_EQ(outcomes_of(message_with_fences(false, true)), (Outcomes{0, 1, 10, 11}));
  EXPECT_EQ(outcomes_of(message_with_fences(true, false)), (Outcomes{0, 1, 10, 11}));
}

Litmus plain_message(std::memory_order store, bool fence) {
  return {1,
          {[store](Memory& m, int*) {
             m.data.store(1);
             m.y.store(1, store);
           },
           [fence](Memory& m, int* r) {
             if (m.y.load(kRelaxed) == 0) return;
             if (fence) P::fence(kAcquire);
             r[0] = m.data.load();
           }}};
}

TEST(Litmus, plain_memory_races_unless_published_and_acquired) {
  EXPECT_FALSE(races(plain_message(kRelease, true)));
  EXPECT_TRUE(races(plain_message(kRelaxed, true)));
  EXPECT_TRUE(races(plain_message(kRelease, false)));
}

TEST(Litmus, a_release_fence_does_not_release_what_comes_after_it) {
  EXPECT_TRUE(races({1,
                     {[](Memory& m, int*) {
                        P::fence(kRelease);
                        m.data.store(1);
                        m.y.store(1, kRelaxed);
                      },
                      [](Memory& m, int* r) {
                        if (m.y.load(kAcquire) == 1) r[0] = m.data.load();
                      }}}));
}

Litmus message_through_counter(std::memory_order middle) {
  return {2,
          {[](Memory& m, int*) {
             m.x.store(1, kRelaxed);
             m.y.store(1, kRelease);
           },
           [middle](Memory& m, int*) { m.y.fetch_add(1, middle); },
           [](Memory& m, int* r) {
             r[0] = m.y.load(kAcquire);
             r[1] = m.x.load(kRelaxed);
           }}};
}

TEST(Litmus, a_release_sequence_goes_on_through_read_modify_writes) {
  const Outcomes outcomes = outcomes_of(message_through_counter(kRelaxed));
  EXPECT_TRUE(outcomes.contains(21));
  EXPECT_FALSE(outcomes.contains(20));  // reads the counter's store behind the release
  EXPECT_TRUE(outcomes.contains(10));   // reads the counter's store before it
}

TEST(Litmus, a_plain_store_ends_a_release_sequence) {
  EXPECT_TRUE(outcomes_of({2,
                           {[](Memory& m, int*) {
                              m.x.store(1, kRelaxed);
                              m.y.store(1, kRelease);
                              m.y.store(2, kRelaxed);
                            },
                            [](Memory& m, int* r) {
                              r[0] = m.y.load(kAcquire);
                              r[1] = m.x.load(kRelaxed);
                            }}})
                  .contains(20));
}

// The relaxed read of the middle thread suffices because of coherence: a later thread that it
// happens before also sees the value of x that it has read.
TEST(Litmus, write_to_read_causality_needs_the_middle_thread_to_release) {
  const auto wrc = [](std::memory_order load, std::memory_order store) {
    return Litmus(3, {[](Memory& m, int*) { m.x.store(1, kRelease); },
                      [=](Memory& m, int* r) {
                        r[0] = m.x.load(load);
                        m.y.store(1, store);
                      },
                      [](Memory& m, int* r) {
                        r[1] = m.y.load(kAcquire);
                        r[2] = m.x.load(kRelaxed);
                      }});
  };
  EXPECT_FALSE(outcomes_of(wrc(kAcquire, kRelease)).contains(110));
  EXPECT_FALSE(outcomes_of(wrc(kRelaxed, kRelease)).contains(110));
  EXPECT_TRUE(outcomes_of(wrc(kAcquire, kRelaxed)).contains(110));
}

TEST(Litmus, a_mutex_protects_a_plain_counter_and_nothing_else_does) {
  const auto locked = [](Memory& m, int*) {
    m.mutex.lock();
    m.data.store(m.data.load() + 1);
    m.mutex.unlock();
  };
  const auto unlocked = [](Memory& m, int*) { m.data.store(m.data.load() + 1); };
  EXPECT_FALSE(races({0, {locked, locked, locked}}));
  EXPECT_EQ(seen_by_both({0, {locked, locked, locked}}).graphs.size(), 6u);
  EXPECT_TRUE(races({0, {locked, unlocked}}));
}

// Under sequential consistency the reader that sees the flag sees the data. Only a load that
// returns an older store shows that the fence is missing.
TEST(Litmus, a_dropped_fence_shows_only_in_a_stale_read) {
  const auto program = [](bool fence) {
    return Litmus(0, {[](Memory& m, int*) {
                        m.x.store(1, kRelaxed);
                        m.y.store(1, kRelease);
                      },
                      [fence](Memory& m, int*) {
                        if (m.y.load(kRelaxed) == 0) return;
                        if (fence) P::fence(kAcquire);
                        P::check(m.x.load(kRelaxed) == 1, "", "the data is there with the flag");
                      }});
  };
  Litmus right = program(true);
  EXPECT_TRUE(explore(right).is_verified());
  Litmus wrong = program(false);
  const Result result = explore(wrong, {.mode = Mode::kBounded});
  ASSERT_TRUE(result.failure.has_value());
  EXPECT_EQ(result.failure->kind, FailureKind::kCheck);
  bool stale = false;
  for (const TraceRow& row : result.failure->trace) stale |= row.stale;
  EXPECT_TRUE(stale);
}

}  // namespace
}  // namespace slotfuzz::interleave
