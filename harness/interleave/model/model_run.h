// Runs executions of a program one after the other: its threads are fibres, each stops before its
// next atomic operation, and a scheduler decides whose operation is performed and what it reads.
//
// No state of an execution remains when the next begins, and nothing in it depends on an address: a
// program that behaves the same when it reads the same values is replayed exactly by the same
// decisions.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/interleave/fibre/fibre.h"
#include "harness/interleave/model/model.h"

namespace slotfuzz::interleave {

// A small multi-threaded program that is run from its start many times.
class Program {
 public:
  virtual ~Program() = default;
  virtual int threads() const = 0;  // 1 to kThreadsMax
  virtual void set_up() = 0;        // before all threads
  virtual void run(int thread) = 0;
  virtual void finish() = 0;     // after all threads, unless the execution failed
  virtual void tear_down() = 0;  // always, if set_up returned
  // At the end, after tear_down, the program must have destroyed every location.
  virtual bool leaks_are_failures() const { return false; }
};

// The program whose set-up constructs a scenario, each time in new memory: after ThreadSanitizer
// has reported a race on an address, it stays silent about it until the address is allocated again.
//   struct Scenario { Scenario(Arguments...); void run(int thread); void finish(); }
template <class Scenario, class... Arguments>
class ProgramOf final : public Program {
 public:
  explicit ProgramOf(int threads, Arguments... arguments)
      : threads_(threads), arguments_(std::move(arguments)...) {}

  int threads() const override { return threads_; }
  void set_up() override {
    // The program owns the memory from here, because a failure in a constructor abandons the run
    // there.
    place_ = std::make_unique_for_overwrite<Place>();
    scenario_ = std::apply(
        [this](const Arguments&... arguments) {
          return new (place_->bytes) Scenario(arguments...);
        },
        arguments_);
  }
  void run(int thread) override { scenario_->run(thread); }
  void finish() override { scenario_->finish(); }
  void tear_down() override { scenario_->~Scenario(); }
  bool leaks_are_failures() const override { return true; }

 private:
  struct Place {
    alignas(Scenario) std::byte bytes[sizeof(Scenario)];
  };

  int threads_;
  std::tuple<Arguments...> arguments_;
  std::unique_ptr<Place> place_;
  Scenario* scenario_ = nullptr;
};

class Execution;

// Makes the decisions. Called on the stack of the last operation.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // Performs the next operation of some enabled thread (Execution::perform) and returns the thread.
  // Returns kNobody to stop: no thread is enabled, or the operation failed.
  virtual int advance(Execution& execution) = 0;
};

struct Decision {
  int16_t thread;
  StoreId choice;
};

// One line of a printed execution. It has no addresses: a pointer is the number of its first
// appearance.
struct TraceRow {
  int step;  // 0: between two operations
  int thread;
  int line;  // of the thread's program, from 1; 0: none, as in the set-up
  std::string location;
  std::string operation;
  std::string value;
  bool stale;
  std::string note;
};

class Execution {
 public:
  enum class Ending { kFinished, kFailed, kTooLong };

  Execution();
  ~Execution();

  Ending run(Program& program, Scheduler& scheduler);
  // Of the last run, if it failed.
  const Model::Fault& fault() const { return model_.fault(); }

  // For schedulers
  Model& model() { return model_; }
  const Model& model() const { return model_; }
  int thread_count() const { return thread_count_; }
  bool is_waiting(int thread) const { return threads_[thread].waiting; }
  bool is_enabled(int thread) const {
    return threads_[thread].waiting && model_.is_enabled(thread, threads_[thread].pending);
  }
  const Operation& pending(int thread) const { return threads_[thread].pending; }
  // Performs the pending operation; returns the thread, or kNobody if that failed.
  int perform(int thread, StoreId choice);
  const std::vector<Decision>& decisions() const { return decisions_; }

  // For the policy: the operations of the code under test.
  static Execution& current() {
    if (running_here_ == nullptr) [[unlikely]]
      used_outside();
    return *running_here_;
  }
  Model::Outcome operate(const Operation& operation);
  int16_t construct(LocationKind kind, uint64_t value, uint8_t bytes, bool is_pointer);
  void destroy(int16_t location) noexcept;
  void plain_access(int16_t location, bool writes, uint64_t value);
  void fence(std::memory_order order);
  // The running thread starts this line of its program.
  void begin_line(int line) { threads_[running_].line = line; }
  // CONTRACT is the number of a sentence of the contract, or empty.
  void check(bool holds, const char* contract, const char* what);
  void name(int16_t location, const char* name);
  // Memory that lives as long as the execution.
  void* allocate(size_t bytes, size_t alignment);

  // Makes plain accesses points of choice too: only to show that this is not necessary.
  void yield_on_plain(bool yields) { yields_on_plain_ = yields; }
  void keep_trace(bool keep) { tracing_ = keep; }
  const std::vector<TraceRow>& trace() const { return trace_; }

 private:
  struct Thread {
    std::unique_ptr<Fibre> fibre;
    Operation pending;
    Model::Outcome outcome;
    bool waiting = false;
    int line = 0;
  };

  enum class Phase : uint8_t { kAlone, kStarting, kRunning, kGivingUp };

  class RunningHere;

  [[noreturn]] static void used_outside();
  void grow(int threads);
  Fibre* body(int thread);
  void run_threads();
  bool must_stop() const { return model_.has_fault() || model_.is_full(); }
  Fibre* end_of(int thread);
  void give_up();
  void stop_here();
  void judge_end();
  void check_leaks();
  void add_row(int thread, const Operation& operation, StoreId choice,
               const Model::Outcome& outcome);
  void add_note(std::string location, std::string operation, std::string note);
  std::string text_of(const Location& location, uint64_t value);
  int line_of(int thread) const { return thread == kNobody ? 0 : threads_[thread].line; }

  // The operations of a policy are static functions and constructors, so they find their execution
  // through the OS thread that they run on. Set for the length of a run.
  static inline constinit thread_local Execution* running_here_ = nullptr;

  Model model_;
  std::vector<Thread> threads_;
  int thread_count_ = 0;
  int running_ = kNobody;
  int unfinished_ = 0;
  Fibre* alone_on_ = nullptr;  // the fibre on whose stack the set-up or the finish runs
  bool is_set_up_ = false;
  Phase phase_ = Phase::kAlone;
  Program* program_ = nullptr;
  Scheduler* scheduler_ = nullptr;
  bool yields_on_plain_ = false;
  bool tracing_ = false;
  std::vector<Decision> decisions_;
  std::vector<TraceRow> trace_;
  std::vector<uint64_t> pointers_;
  std::unique_ptr<std::byte[]> arena_;
  size_t arena_used_ = 0;
};

}  // namespace slotfuzz::interleave
