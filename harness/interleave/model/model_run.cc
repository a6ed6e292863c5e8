// Runs the threads of one execution on fibres, and applies the policy's operations to it.

#include "harness/interleave/model/model_run.h"

#include "harness/engine/check.h"

namespace slotfuzz::interleave {

namespace {

constexpr size_t kStackBytes = 128 << 10;  // AddressSanitizer's frames are large
constexpr size_t kArenaBytes = 64 << 10;

}  // namespace

class Execution::RunningHere {
 public:
  explicit RunningHere(Execution* execution) : outer_(running_here_) { running_here_ = execution; }
  ~RunningHere() { running_here_ = outer_; }
  RunningHere(const RunningHere&) = delete;
  RunningHere& operator=(const RunningHere&) = delete;

 private:
  Execution* outer_;
};

Execution::Execution() : arena_(new std::byte[kArenaBytes]) { grow(2); }

Execution::~Execution() = default;

void Execution::used_outside() {
  CHECK(false, "an object of the model was used outside of an execution");
  __builtin_unreachable();
}

void Execution::grow(int threads) {
  while (static_cast<int>(threads_.size()) < threads) {
    const int thread = static_cast<int>(threads_.size());
    threads_.emplace_back().fibre = std::make_unique<Fibre>(
        kStackBytes, Fibre::Switching::kOrders, [this, thread] { return body(thread); });
  }
}

Execution::Ending Execution::run(Program& program, Scheduler& scheduler) {
  RunningHere here(this);
  thread_count_ = program.threads();
  CHECK(thread_count_ >= 1 && thread_count_ <= kThreadsMax,
        "a program of " << thread_count_ << " threads");
  grow(thread_count_);
  program_ = &program;
  scheduler_ = &scheduler;
  model_.reset();
  decisions_.clear();
  trace_.clear();
  pointers_.clear();
  arena_used_ = 0;
  run_threads();
  judge_end();
  if (model_.has_fault()) return Ending::kFailed;
  return model_.is_full() ? Ending::kTooLong : Ending::kFinished;
}

void Execution::run_threads() {
  is_set_up_ = false;
  phase_ = Phase::kAlone;
  unfinished_ = thread_count_;
  for (int thread = 0; thread < thread_count_; ++thread) {
    threads_[thread].waiting = false;
    model_.begin_thread(thread);
  }
  for (int thread = 0; thread < thread_count_ && !must_stop(); ++thread) {
    threads_[thread].fibre->resume();
  }
  if (must_stop() || unfinished_ == 0) return;
  phase_ = Phase::kRunning;
  const int first = scheduler_->advance(*this);
  if (first != kNobody) threads_[first].fibre->resume();
}

// All threads have stopped: at their ends, or because none can or may continue.
void Execution::judge_end() {
  if (unfinished_ > 0 && !must_stop()) {
    std::string blocked;
    for (int thread = 0; thread < thread_count_; ++thread) {
      if (!threads_[thread].waiting) continue;
      blocked += (blocked.empty() ? "thread " : ", thread ") + std::to_string(thread) +
                 " waits for " + model_.name_of_location(threads_[thread].pending.location);
    }
    model_.fail(FailureKind::kDeadlock, blocked);
  }
  running_ = kNobody;
  alone_on_ = nullptr;
  if (must_stop()) give_up();
  if (is_set_up_) program_->tear_down();
  if (!must_stop()) check_leaks();
}

void Execution::check_leaks() {
  if (!program_->leaks_are_failures() || model_.has_fault()) return;
  const int16_t leaked = model_.first_alive();
  if (leaked < 0) return;
  model_.fail(FailureKind::kLeak, model_.name_of_location(leaked) + " was never freed");
}

void Execution::give_up() {
  phase_ = Phase::kGivingUp;
  for (int thread = 0; thread < thread_count_; ++thread) {
    if (threads_[thread].fibre->is_running()) threads_[thread].fibre->abandon();
  }
}

// The set-up runs on the stack of thread 0, and the finish on the stack of the last thread to end:
// after a failure the code can leave the stack of a fibre at once, even within noexcept functions.
Fibre* Execution::body(int thread) {
  if (thread == 0) {
    running_ = kNobody;
    alone_on_ = threads_[0].fibre.get();
    program_->set_up();
    is_set_up_ = true;
    phase_ = Phase::kStarting;
  }
  running_ = thread;
  program_->run(thread);
  return end_of(thread);
}

Fibre* Execution::end_of(int thread) {
  if (must_stop()) return nullptr;
  if (--unfinished_ > 0) {
    if (phase_ == Phase::kStarting) return nullptr;
    const int next = scheduler_->advance(*this);
    return next == kNobody ? nullptr : threads_[next].fibre.get();
  }
  phase_ = Phase::kAlone;
  running_ = kNobody;
  alone_on_ = threads_[thread].fibre.get();
  program_->finish();
  return nullptr;
}

int Execution::perform(int thread, StoreId choice) {
  Thread& state = threads_[thread];
  decisions_.push_back({static_cast<int16_t>(thread), choice});
  state.outcome = model_.perform(thread, state.pending, choice);
  if (tracing_) add_row(thread, state.pending, choice, state.outcome);
  if (model_.has_fault() || model_.is_full()) return kNobody;
  state.waiting = false;
  return thread;
}

Model::Outcome Execution::operate(const Operation& operation) {
  if (phase_ == Phase::kAlone) {
    const Model::Outcome outcome = model_.perform(kNobody, operation, kNoStore);
    if (model_.has_fault()) stop_here();
    return outcome;
  }
  // The tear-down after a failure: results do not matter any more, but loops must end.
  if (phase_ == Phase::kGivingUp) return {operation.expected, true};
  if (!model_.knows(operation.location)) model_.perform(running_, operation, kNoStore);
  if (must_stop()) stop_here();
  const int me = running_;
  Thread& self = threads_[me];
  self.pending = operation;
  self.waiting = true;
  if (phase_ == Phase::kStarting) {
    self.fibre->suspend();
  } else {
    const int next = scheduler_->advance(*this);
    if (next == me) return self.outcome;
    if (next == kNobody) {
      self.fibre->suspend();
      CHECK(false, "an execution that had ended went on");
    }
    self.fibre->hand_over(*threads_[next].fibre);
  }
  running_ = me;
  return self.outcome;
}

// After a failure: the code never returns to this stack, unless it is the tear-down's.
void Execution::stop_here() {
  Fibre* fibre = running_ == kNobody ? alone_on_ : threads_[running_].fibre.get();
  if (fibre == nullptr) return;
  fibre->suspend();
  CHECK(false, "an execution that had ended went on");
}

int16_t Execution::construct(LocationKind kind, uint64_t value, uint8_t bytes, bool is_pointer) {
  return model_.construct(running_, kind, value, bytes, is_pointer);
}

// A destructor cannot throw: a fault ends the execution at the next operation of any thread.
void Execution::destroy(int16_t location) noexcept {
  if (phase_ == Phase::kGivingUp) return;
  if (tracing_ && phase_ != Phase::kAlone) {
    add_note(model_.name_of_location(location), "free", "");
  }
  model_.destroy(running_, location);
}

void Execution::plain_access(int16_t location, bool writes, uint64_t value) {
  if (phase_ == Phase::kGivingUp) return;
  if (yields_on_plain_ && phase_ != Phase::kAlone) {
    operate({writes ? Action::kPlainStore : Action::kPlainLoad, std::memory_order_relaxed,
             std::memory_order_relaxed, location, value, 0});
    return;
  }
  model_.plain_access(running_, location, writes);
  if (tracing_ && phase_ != Phase::kAlone) {
    const bool known = !model_.has_fault();
    add_note(model_.name_of_location(location), writes ? "write" : "read",
             known ? text_of(model_.location(location), value) : "");
  }
  if (model_.has_fault()) stop_here();
}

void Execution::fence(std::memory_order order) {
  if (phase_ == Phase::kGivingUp) return;
  model_.fence(running_, order);
  if (tracing_ && phase_ != Phase::kAlone) {
    add_note("",
             order == std::memory_order_acquire   ? "fence acquire"
             : order == std::memory_order_release ? "fence release"
                                                  : "fence acq_rel",
             "");
  }
  if (model_.has_fault() || model_.is_full()) stop_here();
}

void Execution::check(bool holds, const char* contract, const char* what) {
  if (holds || phase_ == Phase::kGivingUp) return;
  model_.fail(FailureKind::kCheck, what, contract);
  if (tracing_ && phase_ != Phase::kAlone) add_note("", "check", words_of(contract, what));
  stop_here();
}

void Execution::name(int16_t location, const char* name) { model_.location(location).name = name; }

void* Execution::allocate(size_t bytes, size_t alignment) {
  arena_used_ = (arena_used_ + alignment - 1) / alignment * alignment;
  CHECK(arena_used_ + bytes <= kArenaBytes, "an execution allocates too much");
  void* place = arena_.get() + arena_used_;
  arena_used_ += bytes;
  return place;
}

}  // namespace slotfuzz::interleave
