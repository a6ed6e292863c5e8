// The scheduler of fibres. It is compiled without ThreadSanitizer: the scheduler is not part of the
// threads that it simulates, every fibre touches its memory without an order, and a report's
// callback in instrumented code would wait for itself. It uses no containers either, because the
// linker may take their functions from instrumented code.

#include "harness/interleave/fibre/schedule.h"

#include <new>

#include "harness/engine/check.h"

extern "C" {
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
void __tsan_on_report(void* report);
}

namespace slotfuzz::interleave {

namespace {

constexpr size_t kStackBytes = 128 << 10;  // AddressSanitizer's frames are large

// Code on a fibre has no reference to the scheduler, so it finds it through the OS thread.
constinit thread_local FibreScheduler* observing_here = nullptr;

// A sanitizer's callback, which has no argument of ours, can only increment this number.
constinit std::atomic<uint64_t> reports{0};

uint64_t next_random(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

uint64_t thread_reports() {
  return reports.load(std::memory_order_relaxed);  // pairs with nothing: only the number counts
}

FibreScheduler::FibreScheduler() : events_(new Event[kEventsMax]) {}

FibreScheduler::~FibreScheduler() {
  for (Thread& thread : threads_) delete thread.fibre;
}

void FibreScheduler::grow(int threads) {
  CHECK(threads >= 1 && threads <= kFibresMax, "a run of " << threads << " threads");
  for (int i = 0; i < threads; ++i) {
    if (threads_[i].fibre != nullptr) continue;
    threads_[i].fibre =
        new Fibre(kStackBytes, Fibre::Switching::kSilent, [this, i] { return body_of(i); });
  }
}

FibreScheduler::Ending FibreScheduler::run(int threads, const Body& body, const uint8_t* schedule,
                                           size_t size, const Finish& finish) {
  schedule_ = schedule;
  size_ = size;
  random_ = 0;
  return run_all(threads, body, finish);
}

FibreScheduler::Ending FibreScheduler::run_random(int threads, const Body& body, uint64_t seed,
                                                  const Finish& finish) {
  schedule_ = nullptr;
  size_ = 0;
  random_ = seed | 1;
  // From few switches to one at every second choice: some bugs need many, some need long runs.
  calm_ = 128 + 16 * (next_random(&random_) % 8);
  return run_all(threads, body, finish);
}

FibreScheduler::Ending FibreScheduler::run_all(int threads, const Body& body,
                                               const Finish& finish) {
  CHECK(phase_ == Phase::kIdle, "a run inside a run");
  CHECK(observing_here == this, "a run that is not observed");
  grow(threads);
  body_ = &body;
  finish_ = finish ? &finish : nullptr;
  finishing_ = false;
  count_ = threads;
  unfinished_ = threads;
  last_ = 0;
  steps_ = 0;
  next_ = 0;
  taken_size_ = 0;
  stopped_ = false;
  message_ = nullptr;
  contract_ = "";
  reports_before_ = thread_reports();
  for (int i = 0; i < threads; ++i) {
    threads_[i].done = false;
    threads_[i].waits_for = nullptr;
    threads_[i].line = 0;
  }
  if (__tsan_release) __tsan_release(&started_);
  phase_ = Phase::kStarting;
  current_ = 0;
  threads_[0].fibre->resume();
  for (int i = 0; i < threads; ++i) {
    if (threads_[i].fibre->is_running()) threads_[i].fibre->abandon();
  }
  if (__tsan_acquire) __tsan_acquire(&ended_);
  phase_ = Phase::kIdle;
  current_ = -1;
  if (stopped_) return Ending::kStopped;
  if (steps_ > kStepsMax) return Ending::kTooLong;
  return unfinished_ > 0 ? Ending::kDeadlock : Ending::kFinished;
}

Fibre* FibreScheduler::body_of(int thread) {
  if (__tsan_acquire) __tsan_acquire(&started_);
  (*body_)(thread);
  if (unfinished_ == 1 && finish_ != nullptr) {
    if (__tsan_acquire) __tsan_acquire(&ended_);
    phase_ = Phase::kRunning;
    finishing_ = true;
    (*finish_)();
  }
  if (__tsan_release) __tsan_release(&ended_);
  threads_[thread].done = true;
  --unfinished_;
  if (unfinished_ == 0) return nullptr;
  const int next = next_to_run();
  if (next < 0) return nullptr;
  current_ = next;
  return threads_[next].fibre;
}

// First each thread in turn runs to its first operation, without a choice; then choices begin.
int FibreScheduler::next_to_run() {
  if (phase_ == Phase::kStarting && current_ + 1 < count_) return current_ + 1;
  phase_ = Phase::kRunning;
  const int next = choose();
  if (next >= 0) last_ = next;
  return next;
}

bool FibreScheduler::can_run(int thread) const {
  if (threads_[thread].done) return false;
  // Relaxed: one fibre runs at a time, so this reads the current value.
  const std::atomic<uint32_t>* word = threads_[thread].waits_for;
  return word == nullptr || word->load(std::memory_order_relaxed) == 0;
}

// The thread that continues, or -1 if no thread can or may.
int FibreScheduler::choose() {
  if (++steps_ > kStepsMax) return -1;
  int able[kFibresMax];
  int count = 0;
  for (int i = 0; i < count_; ++i) {
    const int after_last = last_ + i;
    const int thread = after_last < count_ ? after_last : after_last - count_;
    if (can_run(thread)) able[count++] = thread;
  }
  if (count <= 1) return count == 0 ? -1 : able[0];
  return able[byte_for(count)];
}

uint32_t FibreScheduler::byte_for(int count) {
  uint32_t byte = 0;
  if (random_ != 0) {
    const uint64_t bits = next_random(&random_);
    if ((bits & 255) >= calm_) byte = 1 + (bits >> 8) % (count - 1);
    if (taken_size_ == kTakenMax) byte = 0;
  } else if (next_ < size_) {
    byte = schedule_[next_++] % count;
  }
  if (taken_size_ < kTakenMax) {
    taken_[taken_size_] = static_cast<uint8_t>(byte);
    counts_[taken_size_++] = static_cast<uint8_t>(count);
  }
  return byte;
}

std::vector<uint8_t> FibreScheduler::taken() const {
  size_t size = taken_size_;
  while (size > 0 && taken_[size - 1] == 0) --size;
  return {taken_, taken_ + size};
}

// Returns to the caller of run(), which abandons this fibre.
void FibreScheduler::leave() {
  threads_[current_].fibre->suspend();
  CHECK(false, "a run that had ended went on");
}

void FibreScheduler::switch_from(int thread) {
  const int next = next_to_run();
  if (next == thread) return;
  if (next < 0) leave();
  current_ = next;
  threads_[thread].fibre->hand_over(*threads_[next].fibre);
}

void FibreScheduler::yield() {
  FibreScheduler* self = observing_here;
  if (self == nullptr || self->phase_ == Phase::kIdle) return;
  // ThreadSanitizer has reported the code that ran until here. It may have corrupted memory, so it
  // does not continue.
  if (thread_reports() != self->reports_before_) stop("a data race");
  self->switch_from(self->current_);
}

void FibreScheduler::yield_until_zero(const std::atomic<uint32_t>& word) {
  FibreScheduler* self = observing_here;
  if (self == nullptr || self->phase_ == Phase::kIdle) return;
  if (thread_reports() != self->reports_before_) stop("a data race");
  Thread& mine = self->threads_[self->current_];
  mine.waits_for = &word;
  self->switch_from(self->current_);
  self->threads_[self->current_].waits_for = nullptr;
}

void FibreScheduler::stop(const char* message, const char* contract) {
  FibreScheduler* self = observing_here;
  CHECK(self != nullptr, "an invariant of a run without a scheduler: " << message);
  if (self->message_ == nullptr) {
    self->message_ = message;
    self->contract_ = contract;
  }
  if (self->phase_ == Phase::kIdle) return;
  self->stopped_ = true;
  self->leave();
}

int FibreScheduler::thread() { return observing_here == nullptr ? -1 : observing_here->current_; }

void FibreScheduler::begin_line(int line) {
  if (thread() >= 0) observing_here->threads_[thread()].line = line;
}

int FibreScheduler::line() { return thread() < 0 ? 0 : observing_here->threads_[thread()].line; }

FibreScheduler* FibreScheduler::here() { return observing_here; }

void FibreScheduler::begin_observing() {
  CHECK(observing_here == nullptr, "two schedulers on one thread");
  observing_here = this;
  event_count_ = 0;
  location_count_ = 0;
  message_ = nullptr;
  contract_ = "";
}

void FibreScheduler::end_observing() { observing_here = nullptr; }

void FibreScheduler::made(void* object) {
  CHECK(alive_ < kObjectsMax, "a run has more than " << kObjectsMax << " objects");
  objects_[alive_++] = object;
}

bool FibreScheduler::unmake(void* object) {
  for (int i = alive_ - 1; i >= 0; --i) {
    if (objects_[i] != object) continue;
    objects_[i] = objects_[--alive_];
    return true;
  }
  return false;
}

void FibreScheduler::free_left() {
  while (alive_ > 0) ::operator delete(objects_[--alive_]);
}

void FibreScheduler::add_name(const void* location, const char* name) {
  if (!keeping_events_ || location_count_ == kNamesMax) return;
  locations_[location_count_++] = {location, name};
}

void FibreScheduler::tell(const char* operation, const void* location, uint64_t value) {
  FibreScheduler* self = observing_here;
  if (self == nullptr || !self->keeping_events_ || self->phase_ == Phase::kIdle) return;
  self->add_event(operation, location, value);
}

void FibreScheduler::add_event(const char* operation, const void* location, uint64_t value) {
  if (event_count_ == kEventsMax) return;
  // The newest: the memory may have been freed and reused.
  int number = location_count_;
  while (number > 0 && locations_[number - 1].address != location) --number;
  if (number == 0) {
    add_name(location, nullptr);
    number = location_count_;
  }
  const char* name = number > 0 ? locations_[number - 1].name : nullptr;
  const int thread = finishing_ ? -1 : current_;
  const int line = finishing_ ? 0 : threads_[current_].line;
  events_[event_count_++] = {thread, line, operation, name, number, value};
}

}  // namespace slotfuzz::interleave

// ThreadSanitizer calls this after a report. Relaxed: callers only compare with an earlier value.
void __tsan_on_report(void*) {
  slotfuzz::interleave::reports.fetch_add(1, std::memory_order_relaxed);
}
