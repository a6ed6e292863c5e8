// Properties of fibres: which one runs when, what survives a switch, and how an abandoned body
// ends.

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/interleave/fibre/fibre.h"

namespace slotfuzz::interleave {
namespace {

constexpr size_t kStackBytes = 64 << 10;

TEST(Fibre, runs_until_it_suspends_and_goes_on_there) {
  std::string order;
  Fibre* self = nullptr;
  Fibre fibre(kStackBytes, Fibre::Switching::kOrders, [&]() -> Fibre* {
    order += "a";
    self->suspend();
    order += "b";
    return nullptr;
  });
  self = &fibre;
  fibre.resume();
  EXPECT_TRUE(fibre.is_running());
  order += "-";
  fibre.resume();
  EXPECT_FALSE(fibre.is_running());
  EXPECT_EQ(order, "a-b");
}

TEST(Fibre, a_finished_body_begins_anew) {
  int runs = 0;
  Fibre fibre(kStackBytes, Fibre::Switching::kOrders, [&]() -> Fibre* {
    ++runs;
    return nullptr;
  });
  for (int i = 0; i < 1000; ++i) fibre.resume();
  EXPECT_EQ(runs, 1000);
}

TEST(Fibre, hands_over_without_its_resumer_and_the_last_one_returns_to_it) {
  std::string order;
  std::vector<std::unique_ptr<Fibre>> fibres;
  for (int i = 0; i < 3; ++i) {
    fibres.push_back(
        std::make_unique<Fibre>(kStackBytes, Fibre::Switching::kOrders, [&, i]() -> Fibre* {
          order += static_cast<char>('a' + i);
          fibres[i]->hand_over(*fibres[(i + 1) % 3]);
          order += static_cast<char>('A' + i);
          return i < 2 ? fibres[i + 1].get() : nullptr;
        }));
  }
  fibres[0]->resume();
  EXPECT_EQ(order, "abcABC");
}

double sum_of(int depth, double x) { return depth == 0 ? x : sum_of(depth - 1, x + 0.5) + 1.0; }

TEST(Fibre, locals_and_floating_point_survive_switches) {
  std::vector<std::unique_ptr<Fibre>> fibres;
  std::vector<double> sums(4);
  for (int i = 0; i < 4; ++i) {
    fibres.push_back(
        std::make_unique<Fibre>(kStackBytes, Fibre::Switching::kOrders, [&, i]() -> Fibre* {
          double sum = i;
          for (int round = 0; round < 50; ++round) {
            sum += sum_of(round, 1.0);
            fibres[i]->suspend();
          }
          sums[i] = sum;
          return nullptr;
        }));
  }
  for (int round = 0; round < 51; ++round) {
    for (auto& fibre : fibres) fibre->resume();
  }
  for (int i = 1; i < 4; ++i) EXPECT_EQ(sums[i], sums[0] + i);
}

// As a scheduler gives up a run: it throws at the point where each body waits.
TEST(Fibre, an_exception_unwinds_a_body_and_runs_its_destructors) {
  struct GiveUp {};
  int alive = 0;
  struct Counted {
    explicit Counted(int* count) : count_(count) { ++*count_; }
    ~Counted() { --*count_; }
    int* count_;
  };
  Fibre* self = nullptr;
  Fibre fibre(kStackBytes, Fibre::Switching::kOrders, [&]() -> Fibre* {
    try {
      Counted outer(&alive);
      std::string long_enough_for_the_heap(100, 'x');
      self->suspend();
      throw GiveUp();
    } catch (const GiveUp&) {
    }
    return nullptr;
  });
  self = &fibre;
  for (int i = 0; i < 100; ++i) {
    fibre.resume();
    EXPECT_EQ(alive, 1);
    fibre.resume();
    EXPECT_EQ(alive, 0);
  }
}

long resident_pages() {
  long total = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident;
}

// The frames are large enough that a sanitizer's record of each abandoned stack would be visible.
TEST(Fibre, abandoned_bodies_begin_anew_and_leave_nothing_behind) {
  int begun = 0;
  Fibre* self = nullptr;
  auto suspend_deep = [&](auto& again, int depth) noexcept -> void {
    volatile char frame[4096];
    frame[depth] = 1;
    if (depth > 0) return again(again, depth - 1);
    self->suspend();
    ADD_FAILURE() << "went on";
  };
  Fibre fibre(kStackBytes, Fibre::Switching::kOrders, [&]() -> Fibre* {
    ++begun;
    suspend_deep(suspend_deep, 5);
    return nullptr;
  });
  self = &fibre;
  auto abandon_many = [&](int times) {
    for (int i = 0; i < times; ++i) {
      fibre.resume();
      fibre.abandon();
    }
  };
  abandon_many(100);
  const long before = resident_pages();
  abandon_many(5000);
  EXPECT_EQ(begun, 5100);
  EXPECT_LT(resident_pages() - before, 5000);
}

}  // namespace
}  // namespace slotfuzz::interleave
