// The C++ memory model as a machine that performs one operation after the other. Each location
// keeps every value stored in it, in modification order; a load may read any of them that coherence
// and happens-before allow. The caller passes in everything that varies between executions: which
// thread is next, which store it reads, and behind which store its own goes.
//
// Note [Modification order is not execution order]
//   A plain store may go behind any store whose successor the thread need not have seen, not only
//   behind the newest; otherwise the outcomes of two threads that write the same two locations in
//   opposite order (2+2W) are lost. It never goes between a read-modify-write and its source.
//
// Note [What this machine cannot do]
//   Reads come after the stores that they read from, so there is no load buffering: no cycle of
//   program order and reads-from, as in the repaired models of C++. Sequentially consistent
//   operations are refused, not approximated. Weak compare-exchange does not fail spuriously. A
//   release sequence is its head and the read-modify-writes that follow it, as since C++20.
//
// Note [Waiting for a condition]
//   The operations of a condition variable are read-modify-writes of one location, which holds the
//   set of waiting threads: so they have one order, as the standard requires, and they synchronize
//   nothing. A wait is four operations: kWait joins the set, then the mutex is unlocked, kWake
//   waits for the notification that removes the thread, then the mutex is locked. The standard
//   makes the first two atomic, but no thread can tell: what happens in between could as well
//   happen after. notify_one may choose any waiting thread.
//     A spurious wakeup is a choice of kWait: the thread then does not join the set. A waiting
//   thread that a notification could choose, but that wakes spuriously before, leaves no trace
//   either. A thread wakes spuriously at most kSpuriousMax times, or a loop would never end.
//
// Note [What a race is here]
//   The machine checks plain accesses, constructions and destructions against happens-before by
//   vector clocks. That is a property of the execution graph, not of the order in which it was
//   made, so the scheduler need not choose at plain accesses.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/interleave/model/model_clock.h"

namespace slotfuzz::interleave {

using StoreId = int16_t;
constexpr StoreId kNoStore = -1;
constexpr int kNobody = -1;  // no thread: the set-up and the finish
// An execution beyond these limits is given up, and the search reports "cut". Both fit 16 bits. A
// program that needs more is a loop that waits; no exhaustive search ends for it.
constexpr int kStepsMax = 4000;
constexpr int kStoresMax = 8000;
constexpr int kChoicesMax = 256;  // the values of a byte of a schedule
constexpr int kSpuriousMax = 1;   // spurious wakeups of each thread

enum class Action : uint8_t {
  kLoad,
  kStore,
  kExchange,
  kAdd,
  kSubtract,
  kOr,
  kWait,
  kNotifyOne,
  kNotifyAll,
  kCompareExchange,
  kLock,
  kUnlock,
  kWake,
  kPlainLoad,
  kPlainStore,
};

enum class LocationKind : uint8_t { kAtomic, kPlain, kMutex, kCondition };

struct Operation {
  Action action;
  std::memory_order order;
  std::memory_order failure_order;
  int16_t location;
  uint64_t operand;
  uint64_t expected;
};

struct Store {
  uint64_t value;
  Clock release;  // what happens before an acquiring reader
  Clock cause;    // the steps without which this store would not exist
  Clock seen;     // per thread the time at which it first wrote or read this store
  StoreId older;  // in modification order
  StoreId newer;
  StoreId taker;  // the read-modify-write that read this one
  int16_t step;   // -1: made by the set-up
  int16_t thread;
  int16_t time;
};

struct Location {
  LocationKind kind;
  bool alive;
  bool is_pointer;
  uint8_t bytes;
  int16_t holder;  // of a mutex
  StoreId newest;
  StoreId pushed;    // the most recent store
  StoreId spurious;  // of a condition: what a wait reads that will wake spuriously
  int16_t born_thread;
  int16_t born_time;
  Clock accessed;  // last access of each thread; of plain memory, the last read
  Clock written;   // of plain memory: the last write, in the lane of its thread
  const char* name;
};

enum class FailureKind : uint8_t {
  kCheck,
  kRace,
  kUseAfterFree,
  kDoubleFree,
  kLeak,
  kDeadlock,
  kMutexMisuse,
  kUnsupported,
};
const char* name_of(FailureKind kind);
// A failure in words: the message, after the number of the contract's sentence if it has one.
std::string words_of(const std::string& contract, const std::string& message);

// The stores that an operation may read, or go behind, the newest first.
struct Choices {
  int count = 0;
  StoreId ids[kChoicesMax];
};

class Model {
 public:
  struct Outcome {
    uint64_t value = 0;      // what was read
    bool exchanged = false;  // the compare-exchange wrote, or the wait joined the waiting threads
  };
  struct Fault {
    std::string words() const { return words_of(contract, message); }

    FailureKind kind;
    std::string contract;
    std::string message;
  };

  Model();
  void reset();

  // Threads. For operations of kNobody, no other thread runs.
  void begin_thread(int thread);
  void fence(int thread, std::memory_order order);

  // Locations
  int16_t construct(int thread, LocationKind kind, uint64_t value, uint8_t bytes, bool is_pointer);
  void destroy(int thread, int16_t location);
  void plain_access(int thread, int16_t location, bool writes);
  bool knows(int16_t location) const {
    return location >= 0 && location < static_cast<int>(locations_.size());
  }
  int16_t first_alive() const;  // -1: all have been destroyed

  // Operations
  bool is_enabled(int thread, const Operation& operation) const {
    if (operation.action == Action::kLock) {
      return locations_[operation.location].holder == kNobody;
    }
    return operation.action != Action::kWake || threads_[thread].woken_by != kNoStore;
  }
  // The stores from `bound` on that the operation may choose; empty only if `bound` hides all.
  void choices(int thread, const Operation& operation, StoreId bound, Choices* out);
  bool has_choice(int thread, const Operation& operation, StoreId bound) const;
  // The store that an operation reads which makes this choice. They differ for notify_one, whose
  // choices are the stores by which the waiting threads joined.
  StoreId source_of(const Operation& operation, StoreId choice) const {
    return operation.action == Action::kNotifyOne ? newest(operation.location) : choice;
  }
  // Stores that the operation could have changed, were they not taken by a read-modify-write.
  void taken_sources(int thread, const Operation& operation, Choices* out) const;
  Outcome perform(int thread, const Operation& operation, StoreId choice);
  StoreId newest(int16_t location) const { return locations_[location].newest; }

  // Queries
  const Store& store(StoreId id) const { return stores_[id]; }
  Location& location(int16_t id) { return locations_[id]; }
  const Location& location(int16_t id) const { return locations_[id]; }
  std::string name_of_location(int16_t id) const;
  int store_count() const { return store_count_; }
  int step_count() const { return step_count_; }
  const Clock& cause(int thread) const { return threads_[thread].cause; }
  bool is_full() const { return full_; }
  // Equal for two executions exactly when (but for a collision of 64 bits) every read has the same
  // source and every location the same modification order.
  uint64_t fingerprint() const;
  void keep_fingerprint(bool keep) { fingerprinting_ = keep; }

  // The first failure
  bool has_fault() const { return faulty_; }
  const Fault& fault() const { return fault_; }
  void fail(FailureKind kind, std::string message, std::string contract = "");

 private:
  struct Thread {
    Clock happens;     // what happens before the next operation
    Clock cause;       // per thread the last step that the next operation depends on
    Clock acquirable;  // what an acquire fence would add to `happens`
    Clock released;    // what a relaxed store releases: `happens` at the last release fence
    int16_t time = 0;
    StoreId joined = kNoStore;    // by this it joined the threads that wait for a condition
    StoreId woken_by = kNoStore;  // the notification that lets it wake
    int spurious = 0;             // its spurious wakeups until now
  };

  // The location exists, is alive, and was constructed before; otherwise that is the fault.
  bool may_touch(int thread, int16_t id) {
    if (knows(id)) [[likely]] {
      const Location& location = locations_[id];
      if (location.alive && location.born_time == 0) [[likely]]
        return true;
    }
    return may_touch_late(thread, id);
  }
  bool may_touch_late(int thread, int16_t id);
  StoreId floor_of(int thread, const Location& location) const;
  StoreId push_store(int thread, Location& location, uint64_t value, StoreId behind);
  void read(Thread& state, int thread, std::memory_order order, StoreId source);
  void write(Thread& state, int thread, const Operation& operation, std::memory_order order,
             uint64_t value, StoreId behind, StoreId source);
  Outcome modify(Thread& state, int thread, const Operation& operation, StoreId source);
  void lock(Thread& state, int thread, const Operation& operation);
  void unlock(Thread& state, int thread, const Operation& operation);
  void condition_choices(int thread, const Operation& operation, StoreId bound, Choices* out) const;
  Outcome wait(Thread& state, int thread, const Operation& operation, StoreId choice);
  Outcome notify(Thread& state, int thread, const Operation& operation, StoreId choice);
  void wake(Thread& state, int thread);
  StoreId change_waiting(Thread& state, int thread, Location& location, uint64_t waiting);
  Outcome perform_alone(const Operation& operation);
  void refuse(const Operation& operation);
  Clock limit_of(int thread) const;

  std::vector<Store> stores_;
  std::vector<Location> locations_;
  Thread threads_[kThreadsMax];
  int store_count_ = 0;
  int step_count_ = 0;
  bool full_ = false;
  bool faulty_ = false;
  bool fingerprinting_ = false;
  uint64_t reads_print_ = 0;
  Fault fault_{};
};

// Whether it depends on other threads what the operation reads. A thread that may wake reads the
// notification that chose it, whatever other threads do.
inline bool reads(Action action) {
  return action != Action::kStore && action != Action::kUnlock && action != Action::kWake &&
         action != Action::kPlainLoad && action != Action::kPlainStore;
}
inline bool is_of_condition(Action action) {
  return (action >= Action::kWait && action <= Action::kNotifyAll) || action == Action::kWake;
}
inline bool is_plain(Action action) {
  return action == Action::kPlainLoad || action == Action::kPlainStore;
}
inline bool would_write(const Operation& operation, const Store& source) {
  return operation.action != Action::kCompareExchange || source.value == operation.expected;
}
inline bool modifies(Action action) {
  return action >= Action::kExchange && action <= Action::kCompareExchange;
}

}  // namespace slotfuzz::interleave
