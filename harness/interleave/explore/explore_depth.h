// Depth-first search over the bytes of schedules, each execution anew: with a bound on preemptions
// and older stores, or without one, which is every execution there is.
#pragma once

#include "harness/interleave/explore/explore_bytes.h"

namespace slotfuzz::interleave {

class DepthFirst final : public ByteScheduler {
 public:
  static constexpr int kNoBound = INT32_MAX;

  explicit DepthFirst(int bound) : bound_(bound) {}

  // Before each execution but the first: goes to the next one; false if there is none.
  bool next();
  // A nonzero byte at this place or further on makes no execution of interest.
  void forbid_from(size_t place) { forbidden_from_ = place; }
  // The bound, and not the place, left some execution out.
  bool was_bounded() const { return was_bounded_; }

 protected:
  int choose(const Execution&, ChoiceKind kind, const int16_t* options, int count) override;

 private:
  struct Point {
    int index;
    int count;
    int cost_before;
    bool costs;  // an index other than 0 does
  };

  int bound_;
  size_t forbidden_from_ = SIZE_MAX;
  bool was_bounded_ = false;
  std::vector<Point> points_;
};

Result explore_bounded(Program& program, const Options& options, Execution& execution);

}  // namespace slotfuzz::interleave
