// Every execution graph of a program, each run once: partial-order reduction over threads and over
// what is read.
//
// A graph is what each read reads, in which order each location was modified, and in which order
// each mutex was held. At a state, take a thread whose next operation reads. Every graph beyond
// this state has it read either a store that is there, or one that is not there yet. The first kind
// are explored one by one. Then the thread is put to sleep with a bound: from here on it may read
// only stores made later. So no graph is met twice. An operation that reads nothing (a store, an
// unlock) is the same in all graphs beyond the state, wherever its store goes among those of
// others: it can be done at once, and nothing else need be tried there.
//
// Note [Source sets]
//   Another thread is tried at a state only for a reason: in an execution from there, a later
//   operation u made a store that the read e at that state could have read, had it come later; or u
//   could have taken the source that the read-modify-write or lock e took. The events after e that
//   do not depend on e, and then u, can run without e. One of the threads that can begin that
//   sequence (its initials) must be among those tried at the state; if none is, one is added.
//   (Abdulla, Aronis, Jonsson, Sagonas: Optimal dynamic partial order reduction, POPL 2014.)
//   Dependence is program order, reads-from and the order of lock sections. It is not
//   happens-before: a relaxed read depends on the store that it reads too.
//
//   A thread that waits for a mutex when all others have ended, wait or sleep races with the lock
//   that holds it up, although its operation never comes: without it, it might have come.
//
// What remains of redundance is executions in which all enabled threads sleep. They run on to their
// end without being looked at; they are counted as executions, and not as graphs.
#pragma once

#include <functional>
#include <vector>

#include "harness/interleave/explore/explore.h"
#include "harness/interleave/explore/explore_budget.h"

namespace slotfuzz::interleave {

class GraphSearch final : public Scheduler {
 public:
  GraphSearch() {
    steps_.reserve(64);
    choices_.reserve(128);
  }
  // Before each execution but the first: goes to the next one; false if there is none.
  bool next();
  // The last execution was a graph not met before.
  bool is_new_graph() const { return !redundant_; }
  int advance(Execution& execution) override;

 private:
  struct Step {
    int16_t thread;
    int16_t location;
    Action action;
    bool complete;  // the operation reads nothing: no other thread need be tried here
    bool choices_known;
    uint8_t tried;        // threads whose operation was explored here
    uint8_t wanted;       // threads whose operation is or must be explored here
    StoreId store_count;  // at the state before the step
    int choice;           // of `choices`
    int choices_begin;    // in choices_
    int choices_end;
    Clock bounds;  // per sleeping thread 1 + the first store that it may read
    Clock cause;   // what the step depends on, and itself
  };

  int replay_step(Execution& execution);
  int extend(Execution& execution);
  int drain(Execution& execution);
  int take(Execution& execution, Step& step);
  void find_choices(Execution& execution, Step& step);
  int pick(const Execution& execution, const Clock& bounds) const;
  Clock bounds_after(const Step& step) const;
  void find_races(const Execution& execution, const Step& step, const Clock& before,
                  const Choices& taken);
  void find_blocked_races(const Execution& execution);
  void race(int earlier, int thread, const Clock& cause, StoreId source);

  std::vector<Step> steps_;
  std::vector<StoreId> choices_;
  size_t depth_ = 0;     // steps done in this execution
  size_t replayed_ = 0;  // steps that were looked at in an earlier execution
  bool redundant_ = false;
};

Result explore_graphs(Program& program, const Options& options, Execution& execution);

}  // namespace slotfuzz::interleave
