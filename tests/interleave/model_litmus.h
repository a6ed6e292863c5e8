// Litmus programs: a few threads on two atomics, plain memory and a mutex
// and a condition, whose outcomes both
// searches must agree on.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "harness/interleave/explore/explore.h"
#include "harness/interleave/explore/naive.h"
#include "harness/interleave/model/model_policy.h"
#include "tests/interleave/memory_orders.h"

namespace slotfuzz::interleave {

using P = ModelPolicy;

struct Memory {
  P::atomic<int> x{0};
  P::atomic<int> y{0};
  P::var<int> data{0};
  P::mutex mutex;
  P::condition condition;
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

inline Seen seen_by_both(Litmus litmus) {
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

inline Outcomes outcomes_of(Litmus litmus) {
  const Seen seen = seen_by_both(std::move(litmus));
  EXPECT_TRUE(seen.failures.empty());
  return seen.outcomes;
}

inline bool races(Litmus litmus) {
  return seen_by_both(std::move(litmus)).failures.contains(FailureKind::kRace);
}

}  // namespace slotfuzz::interleave
