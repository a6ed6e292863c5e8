// The model on programs that distinguish orders of stores: which values threads may read from each
// location, and in which order. The expected sets are all outcomes that C++11 allows, but for load
// buffering, which this model does not produce.

#include <gtest/gtest.h>

#include "tests/interleave/model_litmus.h"

namespace slotfuzz::interleave {
namespace {

TEST(Litmus, store_buffering_may_miss_both_stores) {
  for (auto [store, load] : {std::pair{kRelaxed, kRelaxed}, std::pair{kRelease, kAcquire}}) {
    EXPECT_EQ(outcomes_of({2,
                           {[store = store, load = load](Memory& m, int* r) {
                              m.x.store(1, store);
                              r[0] = m.y.load(load);
                            },
                            [store = store, load = load](Memory& m, int* r) {
                              m.y.store(1, store);
                              r[1] = m.x.load(load);
                            }}}),
              (Outcomes{0, 1, 10, 11}));
  }
}

// C++ allows 11 as well. In this model a read comes after the store that it reads, so there is no
// cycle of program order and reads-from, as in the repaired models (RC11).
TEST(Litmus, load_buffering_is_not_produced) {
  EXPECT_EQ(outcomes_of({2,
                         {[](Memory& m, int* r) {
                            r[0] = m.x.load(kRelaxed);
                            m.y.store(1, kRelaxed);
                          },
                          [](Memory& m, int* r) {
                            r[1] = m.y.load(kRelaxed);
                            m.x.store(1, kRelaxed);
                          }}}),
            (Outcomes{0, 1, 10}));
}

TEST(Litmus, two_plus_two_writes_may_end_with_both_first_stores) {
  EXPECT_EQ(outcomes_of({0,
                         {[](Memory& m, int*) {
                            m.x.store(1, kRelaxed);
                            m.y.store(2, kRelaxed);
                          },
                          [](Memory& m, int*) {
                            m.y.store(1, kRelaxed);
                            m.x.store(2, kRelaxed);
                          }},
                         true}),
            (Outcomes{11, 12, 21, 22}));
}

TEST(Litmus, reads_of_one_location_do_not_go_back) {
  EXPECT_EQ(outcomes_of({2,
                         {[](Memory& m, int*) {
                            m.x.store(1, kRelaxed);
                            m.x.store(2, kRelaxed);
                          },
                          [](Memory& m, int* r) {
                            r[0] = m.x.load(kRelaxed);
                            r[1] = m.x.load(kRelaxed);
                          }}}),
            (Outcomes{0, 1, 2, 11, 12, 22}));
}

TEST(Litmus, writes_of_one_thread_stay_in_order) {
  EXPECT_EQ(outcomes_of({0,
                         {[](Memory& m, int*) {
                            m.x.store(1, kRelaxed);
                            m.x.store(2, kRelaxed);
                          },
                          [](Memory& m, int*) { m.x.store(3, kRelaxed); }},
                         true}),
            (Outcomes{20, 30}));
}

TEST(Litmus, a_write_comes_after_what_its_thread_has_read) {
  const Outcomes outcomes = outcomes_of({1,
                                         {[](Memory& m, int*) { m.x.store(1, kRelaxed); },
                                          [](Memory& m, int* r) {
                                            r[0] = m.x.load(kRelaxed);
                                            m.x.store(2, kRelaxed);
                                          }},
                                         true});
  EXPECT_EQ(outcomes, (Outcomes{10, 20, 120}));
}

TEST(Litmus, independent_readers_may_disagree_on_the_order_of_writes) {
  const Outcomes outcomes = outcomes_of({4,
                                         {[](Memory& m, int*) { m.x.store(1, kRelease); },
                                          [](Memory& m, int*) { m.y.store(1, kRelease); },
                                          [](Memory& m, int* r) {
                                            r[0] = m.x.load(kAcquire);
                                            r[1] = m.y.load(kAcquire);
                                          },
                                          [](Memory& m, int* r) {
                                            r[2] = m.y.load(kAcquire);
                                            r[3] = m.x.load(kAcquire);
                                          }}});
  EXPECT_EQ(outcomes.size(), 16u);
  EXPECT_TRUE(outcomes.contains(1010));
}

TEST(Litmus, read_modify_writes_lose_nothing) {
  const auto add = [](Memory& m, int*) { m.x.fetch_add(1, kRelaxed); };
  EXPECT_EQ(outcomes_of({0, {add, add, add}, true}), (Outcomes{30}));
  const auto load_and_store = [](Memory& m, int*) { m.x.store(m.x.load(kRelaxed) + 1, kRelaxed); };
  EXPECT_EQ(outcomes_of({0, {load_and_store, load_and_store}, true}), (Outcomes{10, 20}));
}

TEST(Litmus, one_compare_exchange_of_each_value_succeeds) {
  const auto claim = [](int me) {
    return [me](Memory& m, int* r) {
      int expected = 0;
      r[me] = m.x.compare_exchange_strong(expected, me + 1, kRelaxed, kRelaxed) ? 9 : expected;
    };
  };
  EXPECT_EQ(outcomes_of({2, {claim(0), claim(1)}}), (Outcomes{91, 29}));
}

}  // namespace
}  // namespace slotfuzz::interleave
