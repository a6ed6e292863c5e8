// The search over execution graphs. explore_graphs.h explains why it is complete.

#include "harness/interleave/explore/explore_graphs.h"

#include "harness/engine/check.h"
#include "harness/interleave/explore/explore_bytes.h"

namespace slotfuzz::interleave {

namespace {

uint8_t bit(int thread) { return static_cast<uint8_t>(1u << thread); }

StoreId bound_of(const Clock& bounds, int thread) {
  return static_cast<StoreId>(bounds[thread] > 0 ? bounds[thread] - 1 : 0);
}

// Which operation to do first when there is a choice. An operation that reads nothing completes its
// state. The later a load comes, the more of the stores that it may read exist already.
int rank(Action action) {
  if (!reads(action)) return 0;
  return action == Action::kLoad ? 2 : 1;
}

}  // namespace

int GraphSearch::advance(Execution& execution) {
  if (depth_ < steps_.size()) return replay_step(execution);
  return redundant_ ? drain(execution) : extend(execution);
}

int GraphSearch::replay_step(Execution& execution) {
  Step& step = steps_[depth_];
  if (depth_ < replayed_) {
    ++depth_;
    return execution.perform(step.thread, choices_[step.choice]);
  }
  if (!step.choices_known) {
    find_choices(execution, step);
    if (execution.model().is_full()) return kNobody;
    CHECK(step.choices_begin < step.choices_end, "a thread was wanted that has no choice");
  }
  return take(execution, step);
}

void GraphSearch::find_choices(Execution& execution, Step& step) {
  const Operation& operation = execution.pending(step.thread);
  Choices found;
  execution.model().choices(step.thread, operation, bound_of(step.bounds, step.thread), &found);
  step.location = operation.location;
  step.action = operation.action;
  step.complete = !reads(operation.action);
  step.choices_known = true;
  choices_.resize(step.choices_begin);
  choices_.insert(choices_.end(), found.ids, found.ids + found.count);
  step.choice = step.choices_begin;
  step.choices_end = static_cast<int>(choices_.size());
}

int GraphSearch::pick(const Execution& execution, const Clock& bounds) const {
  int best = kNobody;
  int best_rank = 3;
  for (int thread = 0; thread < execution.thread_count(); ++thread) {
    if (!execution.is_enabled(thread)) continue;
    const Operation& operation = execution.pending(thread);
    if (rank(operation.action) >= best_rank) continue;
    if (bounds[thread] > 0 &&
        !execution.model().has_choice(thread, operation, bound_of(bounds, thread))) {
      continue;
    }
    best = thread;
    best_rank = rank(operation.action);
  }
  return best;
}

// Threads that were tried at a step's state have explored all stores that existed then, and so have
// those that slept there. The thread that took the step is awake.
Clock GraphSearch::bounds_after(const Step& step) const {
  Clock bounds = step.bounds;
  for (int thread = 0; thread < kThreadsMax; ++thread) {
    if ((step.tried & bit(thread)) != 0) {
      bounds.set(thread, static_cast<int16_t>(step.store_count + 1));
    }
  }
  bounds.set(step.thread, 0);
  return bounds;
}

int GraphSearch::extend(Execution& execution) {
  const Clock bounds = steps_.empty() ? Clock() : bounds_after(steps_.back());
  const int thread = pick(execution, bounds);
  if (thread == kNobody) {
    find_blocked_races(execution);
    return drain(execution);
  }
  const int end = steps_.empty() ? 0 : steps_.back().choices_end;
  Step& step = steps_.emplace_back();
  step.thread = static_cast<int16_t>(thread);
  step.choices_known = false;
  step.tried = 0;
  step.wanted = bit(thread);
  step.store_count = static_cast<StoreId>(execution.model().store_count());
  step.choices_begin = end;
  step.choices_end = end;
  step.bounds = bounds;
  find_choices(execution, step);
  if (execution.model().is_full()) return kNobody;
  return take(execution, step);
}

// All enabled threads sleep, so this part was explored before; or no thread is enabled.
int GraphSearch::drain(Execution& execution) {
  for (int thread = 0; thread < execution.thread_count(); ++thread) {
    if (!execution.is_enabled(thread)) continue;
    redundant_ = true;
    Choices choices;
    execution.model().choices(thread, execution.pending(thread), 0, &choices);
    return execution.perform(thread, choices.ids[0]);
  }
  return kNobody;
}

int GraphSearch::take(Execution& execution, Step& step) {
  const Clock before = execution.model().cause(step.thread);
  Choices taken;
  taken.count = 0;
  if (modifies(step.action)) {
    execution.model().taken_sources(step.thread, execution.pending(step.thread), &taken);
  }
  ++depth_;
  step.source = execution.model().source_of(execution.pending(step.thread), choices_[step.choice]);
  const int thread = execution.perform(step.thread, choices_[step.choice]);
  step.cause = execution.model().cause(step.thread);
  if (step.action != Action::kLoad) find_races(execution, step, before, taken);
  return thread;
}

// Finds races of the last step: earlier steps that it could have fed, or whose source it could have
// taken.
void GraphSearch::find_races(const Execution& execution, const Step& step, const Clock& before,
                             const Choices& taken) {
  const Model& model = execution.model();
  for (int i = 0; i < taken.count; ++i) {
    const Store& taker = model.store(model.store(taken.ids[i]).taker);
    if (taker.thread == step.thread || before[taker.thread] > taker.step) continue;
    race(taker.step, step.thread, before, taken.ids[i]);
  }
  if (step.action == Action::kUnlock) return;
  const bool is_lock = step.action == Action::kLock;
  const Clock& cause = is_lock ? before : step.cause;
  const int last = static_cast<int>(depth_) - 1;
  if (!is_lock && model.store_count() == step.store_count) return;
  // A plain store reads nothing, so no sleeping thread precedes it.
  const StoreId own_source = reads(step.action) ? step.source : kNever;
  for (int i = last - 1; i >= 0; --i) {
    const Step& earlier = steps_[i];
    if (earlier.location != step.location || !reads(earlier.action)) continue;
    if (earlier.thread != step.thread && cause[earlier.thread] <= i) {
      race(i, step.thread, cause, is_lock ? choices_[earlier.choice] : own_source);
    }
    // Only with the last section of a mutex: the search finds the others once these two are
    // swapped.
    if (is_lock) return;
  }
}

void GraphSearch::race(int earlier, int thread, const Clock& cause, StoreId source) {
  Step& state = steps_[earlier];
  if (state.complete) return;
  const Clock limit = Clock::all(static_cast<int16_t>(earlier));
  uint8_t met = 0;
  uint8_t initials = 0;
  int added = kNobody;
  const auto consider = [&](int candidate, Clock depends, StoreId reads_from) {
    met |= bit(candidate);
    depends.set(candidate, 0);
    if (depends.exceeds(limit)) return false;
    initials |= bit(candidate);
    // A thread that the racing operation needs, not a thread that merely could run.
    if (added == kNobody && (candidate == thread || cause[candidate] > earlier)) added = candidate;
    return state.bounds[candidate] > 0 && reads_from < bound_of(state.bounds, candidate);
  };
  for (int i = earlier + 1; i < static_cast<int>(depth_) - 1; ++i) {
    const Step& step = steps_[i];
    if ((met & bit(step.thread)) != 0) continue;
    if (step.cause[state.thread] > earlier) {
      met |= bit(step.thread);
    } else if (consider(step.thread, step.cause, step.source)) {
      return;
    }
  }
  if ((met & bit(thread)) == 0 && consider(thread, cause, source)) return;
  if ((initials & state.wanted) != 0) return;
  CHECK(added != kNobody, "a race without a thread to begin with");
  state.wanted |= bit(added);
}

void GraphSearch::find_blocked_races(const Execution& execution) {
  ++depth_;  // race() expects that the operation, which never comes, has come
  for (int thread = 0; thread < execution.thread_count(); ++thread) {
    if (!execution.is_waiting(thread) || execution.is_enabled(thread)) continue;
    const int16_t mutex = execution.pending(thread).location;
    for (int i = static_cast<int>(steps_.size()) - 1; i >= 0; --i) {
      const Step& earlier = steps_[i];
      if (earlier.location != mutex || earlier.action != Action::kLock) continue;
      const Clock& cause = execution.model().cause(thread);
      if (earlier.thread != thread && cause[earlier.thread] <= i) {
        race(i, thread, cause, choices_[earlier.choice]);
      }
      break;
    }
  }
  --depth_;
}

bool GraphSearch::next() {
  redundant_ = false;
  depth_ = 0;
  while (!steps_.empty()) {
    Step& step = steps_.back();
    replayed_ = steps_.size() - 1;
    if (++step.choice < step.choices_end) return true;
    step.tried |= bit(step.thread);
    const unsigned left = step.complete ? 0u : step.wanted & ~step.tried;
    if (left != 0) {
      step.thread = static_cast<int16_t>(__builtin_ctz(left));
      step.choices_known = false;
      return true;
    }
    steps_.pop_back();
  }
  return false;
}

Result explore_graphs(Program& program, const Options& options, Execution& execution) {
  Result result;
  Budget budget(options);
  GraphSearch search;
  do {
    if (!budget.take()) {
      result.cut = true;
      return result;
    }
    ++result.executions;
    switch (execution.run(program, search)) {
      case Execution::Ending::kFinished:
        if (search.is_new_graph()) ++result.graphs;
        break;
      case Execution::Ending::kTooLong: result.cut = true; break;
      case Execution::Ending::kFailed:
        result.failure = failure_of(program, execution, schedule_of_last(program, execution));
        return result;
    }
  } while (search.next());
  return result;
}

}  // namespace slotfuzz::interleave
