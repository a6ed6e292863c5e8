// The bounded search: it raises the bound by one until an execution fails or the bound excludes
// nothing, so the failure that it finds has the fewest preemptions and stale reads.

#include "harness/interleave/explore/explore_depth.h"

#include "harness/interleave/explore/explore_budget.h"

namespace slotfuzz::interleave {

int DepthFirst::choose(const Execution&, ChoiceKind kind, const int16_t*, int count) {
  const size_t place = taken().size();
  if (place < points_.size()) return points_[place].index;
  int cost = 0;
  if (!points_.empty()) {
    const Point& last = points_.back();
    cost = last.cost_before + (last.costs && last.index > 0 ? 1 : 0);
  }
  points_.push_back({0, count, cost, kind != ChoiceKind::kNext});
  return 0;
}

bool DepthFirst::next() {
  begin();
  while (!points_.empty()) {
    Point& point = points_.back();
    if (point.index + 1 < point.count && points_.size() - 1 < forbidden_from_) {
      if (!point.costs || point.cost_before < bound_) {
        ++point.index;
        return true;
      }
      was_bounded_ = true;
    }
    points_.pop_back();
  }
  return false;
}

namespace {

bool is_simpler(const Schedule& a, const Schedule& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

// Searches within one bound. After a failure it searches the rest only for a shorter schedule.
bool search_within(int bound, Program& program, Execution& execution, Budget& budget,
                   Result& result) {
  DepthFirst scheduler(bound);
  scheduler.begin();
  std::optional<Schedule> best;
  do {
    if (!budget.take()) {
      result.cut = true;
      break;
    }
    ++result.executions;
    switch (execution.run(program, scheduler)) {
      case Execution::Ending::kFinished: break;
      case Execution::Ending::kTooLong: result.cut = true; break;
      case Execution::Ending::kFailed: {
        Schedule found = normalised(scheduler.taken());
        if (!best || is_simpler(found, *best)) best = std::move(found);
        scheduler.forbid_from(best->size());
        break;
      }
    }
  } while (scheduler.next());
  if (best) result.failure = failure_of(program, execution, *best);
  return scheduler.was_bounded();
}

}  // namespace

Result explore_bounded(Program& program, const Options& options, Execution& execution) {
  Result result;
  Budget budget(options);
  for (int bound = 0;; ++bound) {
    const bool was_bounded = search_within(bound, program, execution, budget, result);
    result.bound = bound;
    if (result.failure || result.cut || !was_bounded) return result;
    if (bound == options.bound_max) {
      result.cut = true;
      return result;
    }
  }
}

}  // namespace slotfuzz::interleave
