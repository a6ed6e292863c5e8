// Every execution graph of a program, each run once: partial-order reduction over threads and over
// the stores that operations read.
//
// A graph is the source of each read, the modification order of each location, and the order in
// which threads held each mutex and used each condition. At a state, take a thread whose next
// operation reads. In every graph beyond this state it reads either a store that exists, or one
// that does not exist yet. The search explores the first kind one by one. Then it puts the thread
// to sleep with a bound: from here on it may read only stores made later. So no graph is explored
// twice. An operation that reads nothing (a store, an unlock) is the same in all graphs beyond the
// state, wherever its store goes in modification order: the search does it at once, and tries
// nothing else there.
//
// Note [Source sets]
//   The search tries another thread at a state only for a reason: in an execution from there, a
//   later operation u made a store that the read e at that state could have read, had e come later;
//   or u could have taken the source that the read-modify-write or lock e took. The events after e
//   that do not depend on e, and then u, can run without e. The threads tried at the state must
//   include one that can begin that sequence (one of its initials); if they do not, one is added.
//   (Abdulla, Aronis, Jonsson, Sagonas: Optimal dynamic partial order reduction, POPL 2014.)
//   Dependence is program order, reads-from and the order of lock sections. It is not
//   happens-before: a relaxed read also depends on the store that it reads.
//
//   When all other threads have ended, wait or sleep, a thread that waits for a mutex races with
//   the lock that blocks it, although its operation never comes: without that lock it might come.
//
// Note [Conditions in the search]
//   A kWait and the notifications of one condition are read-modify-writes in one order, and the
//   search reverses them as it reverses others. kNotifyOne has a choice for each waiting thread;
//   all of them read the newest store, so what it reads differs from what it chooses. A kWake that
//   is enabled stays enabled and reads the same store in every graph beyond the state, and nothing
//   reads what it does: the search does it at once, as an operation that reads nothing. A kWake
//   that is not enabled needs no race of its own: the notification and the kWait, which came in the
//   wrong order, have one.
//
// The remaining redundant executions are those in which all enabled threads sleep. They run to
// their end unexamined; they count as executions, and not as graphs.
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
  // Call before each execution but the first: goes to the next one; false if none remains.
  bool next();
  // The last execution was a new graph.
  bool is_new_graph() const { return !redundant_; }
  int advance(Execution& execution) override;

 private:
  struct Step {
    int16_t thread;
    int16_t location;
    Action action;
    bool complete;  // the operation reads nothing: the search tries no other thread here
    bool choices_known;
    uint8_t tried;        // threads whose operation was explored here
    uint8_t wanted;       // threads whose operation is or must be explored here
    StoreId store_count;  // at the state before the step
    StoreId source;       // the store that was read
    int choice;           // of `choices`
    int choices_begin;    // in choices_
    int choices_end;
    Clock bounds;  // for each sleeping thread 1 + the first store that it may read
    Clock cause;   // the step and the steps that it depends on
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
  size_t replayed_ = 0;  // steps that an earlier execution examined
  bool redundant_ = false;
};

Result explore_graphs(Program& program, const Options& options, Execution& execution);

}  // namespace slotfuzz::interleave
