// The memory model on the programs that distinguish memory models. The expected sets are all
// outcomes that C++11 allows (fewer for load buffering); both searches must give them.

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "harness/interleave/explore/explore.h"
#include "harness/interleave/model/model_policy.h"
#include "harness/interleave/explore/naive.h"

namespace slotfuzz::interleave {
namespace {

using P = ModelPolicy;
constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;

struct Memory {
  P::atomic<int> x{0};
  P::atomic<int> y{0};
  P::var<int> data{0};
  P::mutex mutex;
};

// Threads write the values that they read into r; the outcome is the digits of r, then the final x
// and y.
class Litmus final : public ObservedProgram {
 public:
  using Body = std::function<void(Memory&, int* r)>;
  Litmus(int registers, std::vector<Body> bodies, bool with_end = false)
      : registers_(registers), bodies_(std::move(bodies)), with_end_(with_end) {}

  int threads() const override { return static_cast<int>(bodies_.size()); }
  void set_up() override {
    memory_ = P::make<Memory>();
    for (int& r : r_) r = 0;
  }
  void run(int thread) override { bodies_[thread](*memory_, r_); }
  void finish() override {
    outcome_ = 0;
    for (int i = 0; i < registers_; ++i) outcome_ = outcome_ * 10 + r_[i];
    if (!with_end_) return;
    outcome_ = outcome_ * 10 + memory_->x.load(kRelaxed);
    outcome_ = outcome_ * 10 + memory_->y.load(kRelaxed);
  }
  void tear_down() override { P::destroy(memory_); }
  uint64_t outcome() const override { return outcome_; }

 private:
  int registers_;
  std::vector<Body> bodies_;
  bool with_end_;
  Memory* memory_ = nullptr;
  int r_[8] = {};
  uint64_t outcome_ = 0;
};

using Outcomes = std::set<uint64_t>;

Seen seen_by_both(Litmus litmus) {
  Execution execution;
  const Seen graphs = every_graph(litmus, execution, 1'000'000);
  const Seen naive = every_interleaving(litmus, execution, 1'000'000);
  EXPECT_FALSE(graphs.cut || naive.cut);
  EXPECT_EQ(graphs.outcomes, naive.outcomes);
  EXPECT_EQ(graphs.failures, naive.failures);
  if (graphs.failures.empty()) {
    EXPECT_EQ(graphs.graphs, naive.graphs);
    EXPECT_EQ(graphs.graphs_met, graphs.graphs.size());
  }
  return graphs;
}

Outcomes outcomes_of(Litmus litmus) {
  const Seen seen = seen_by_both(std::move(litmus));
  EXPECT_TRUE(seen.failures.empty());
  return seen.outcomes;
}

bool races(Litmus litmus) {
  return seen_by_both(std::move(litmus)).failures.contains(FailureKind::kRace);
}

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
                        P::check(m.x.load(kRelaxed) == 1, "the data is there with the flag");
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
