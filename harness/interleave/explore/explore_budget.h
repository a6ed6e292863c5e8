// When a search must stop: after a number of executions or of seconds.
#pragma once

#include <chrono>

#include "harness/interleave/explore/explore.h"

namespace slotfuzz::interleave {

class Budget {
 public:
  explicit Budget(const Options& options)
      : left_(options.executions_max), timed_(options.seconds_max > 0) {
    if (!timed_) return;
    const std::chrono::duration<double> length(options.seconds_max);
    end_ = Steady::now() + std::chrono::duration_cast<Steady::duration>(length);
  }

  // Takes one execution; false if no execution remains.
  bool take() {
    if (left_ == 0) return false;
    --left_;
    // Reading the clock costs as much as a few operations of the model.
    return !timed_ || (++taken_ & 63) != 0 || Steady::now() < end_;
  }

 private:
  using Steady = std::chrono::steady_clock;

  uint64_t left_;
  uint64_t taken_ = 0;
  bool timed_;
  Steady::time_point end_;
};

}  // namespace slotfuzz::interleave
