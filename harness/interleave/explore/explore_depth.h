// Depth-first search over the bytes of schedules. It runs each execution from the start: those
// within a bound on preemptions and older stores, or every execution.
#pragma once

#include "harness/interleave/explore/explore_bytes.h"

namespace slotfuzz::interleave {

class DepthFirst final : public ByteScheduler {
 public:
  static constexpr int kNoBound = INT32_MAX;

  explicit DepthFirst(int bound) : bound_(bound) {}

  // Call before each execution but the first: goes to the next one; false if none remains.
  bool next();
  // Executions with a nonzero byte at this position or later are not needed.
  void forbid_from(size_t place) { forbidden_from_ = place; }
  // The bound, and not the position, excluded some execution.
  bool was_bounded() const { return was_bounded_; }

 protected:
  int choose(const Execution&, ChoiceKind kind, const int16_t* options, int count) override;

 private:
  struct Point {
    int index;
    int count;
    int cost_before;
    bool costs;  // an index other than 0 counts against the bound
  };

  int bound_;
  size_t forbidden_from_ = SIZE_MAX;
  bool was_bounded_ = false;
  std::vector<Point> points_;
};

Result explore_bounded(Program& program, const Options& options, Execution& execution);

}  // namespace slotfuzz::interleave
