// Threads as fibres of one OS thread, of which one runs at a time, and bytes that choose it. Code
// under test calls yield() before each operation that other threads can notice. Everything between
// two yields is atomic and is compiled code, which the sanitizers watch. For ThreadSanitizer a
// switch orders nothing, so it reports what would race between real threads.
//
// Note [Thread bytes]
//   The scheduler reads a byte when more than one thread can continue: 0 keeps the one that ran (or
//   takes the next one if it cannot), k takes the k-th next that can, counted round. A byte is
//   taken modulo their number, so every string is a schedule; after the last byte come zeros. The
//   normalised schedule is the choices of a run without the zeros at the end. It replays that run.
//   An operation that has a choice (a notification: which waiting thread; a wait: whether it wakes
//   spuriously) reads a byte in the same way.
//
// This file is independent of policies: a drop-in std::atomic may call `yield` as well.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "harness/interleave/fibre/fibre.h"

namespace slotfuzz::interleave {

class FibreScheduler {
 public:
  static constexpr int kFibresMax = 8;
  static constexpr size_t kTakenMax = 4096;  // choices that are recorded; later ones count as 0
  static constexpr int kStepsMax = 20'000;   // beyond, a loop waits for an event that never comes
  static constexpr int kObjectsMax = 256;    // alive at one time
  static constexpr int kEventsMax = 2000;    // of a printed run; later ones are left out
  static constexpr int kNamesMax = 64;       // of locations in it; later ones have a number

  enum class Ending { kFinished, kStopped, kDeadlock, kTooLong };
  using Body = std::function<void(int thread)>;
  using Finish = std::function<void()>;

  // One operation of a printed run, as reported by the policy. A location without a name gets a
  // number.
  struct Event {
    int thread;  // -1: all threads have ended
    int line;
    const char* operation;
    const char* name;
    int number;
    uint64_t value;
  };

  FibreScheduler();
  ~FibreScheduler();
  FibreScheduler(const FibreScheduler&) = delete;
  FibreScheduler& operator=(const FibreScheduler&) = delete;

  // Runs `body` once per thread, by these bytes. Everything that the caller did happens before the
  // run, and the run happens before everything that the caller does afterwards. Fibres that cannot
  // end are abandoned. When all threads have ended, the last of them runs `finish`, after all their
  // operations.
  Ending run(int threads, const Body& body, const uint8_t* schedule, size_t size,
             const Finish& finish = {});
  // The same with random bytes, which taken() returns.
  Ending run_random(int threads, const Body& body, uint64_t seed, const Finish& finish = {});

  // Of the last run: the normalised bytes, and the number of options of each choice.
  std::vector<uint8_t> taken() const;
  const uint8_t* choice_counts() const { return counts_; }
  size_t choices() const { return taken_size_; }
  // The message of stop(), or null.
  const char* message() const { return message_; }
  // Its contract number; empty if it has none.
  const char* contract() const { return contract_; }

  // The following functions are for code under test. Outside of a run they do nothing.

  // Another thread may run here.
  static void yield();
  // Other threads must run here until `word` is 0; then this one may continue. If all threads wait,
  // the run is a deadlock.
  static void yield_until_zero(const std::atomic<uint32_t>& word);
  // A choice of an operation under test: 0 to count - 1, of at least 2, by a byte of the schedule.
  // 0 outside of a run.
  static int choice(int count) {
    FibreScheduler* self = here();
    if (self == nullptr || self->phase_ == Phase::kIdle) return 0;
    return static_cast<int>(self->byte_for(count));
  }
  // Ends the run as a failure with this message and contract number (literals). In a thread of a
  // run, does not return.
  static void stop(const char* message, const char* contract = "");
  // The thread that runs, or -1.
  static int thread();
  // The thread starts this line of its program, from 1: for printed runs.
  static void begin_line(int line);
  // Its line; 0 before the first one.
  static int line();
  // The scheduler between begin_observing() and end_observing(), or null.
  static FibreScheduler* here();

  // While a scheduler observes, it receives objects and operations. One for each OS thread.
  void begin_observing();
  void end_observing();

  // Records an object on the heap that the run makes. A second destruction stops the run.
  void made(void* object);
  bool unmake(void* object);
  int alive() const { return alive_; }
  // Frees the remaining objects without destructors: an abandoned run cannot do it.
  void free_left();

  void keep_events(bool keep) { keeping_events_ = keep; }
  void add_name(const void* location, const char* name);
  // Records an operation of the running thread; does nothing outside of a run.
  static void tell(const char* operation, const void* location, uint64_t value);
  const Event* events() const { return events_.get(); }
  int event_count() const { return event_count_; }

 private:
  enum class Phase : uint8_t { kIdle, kStarting, kRunning };

  struct Thread {
    Fibre* fibre = nullptr;
    const std::atomic<uint32_t>* waits_for = nullptr;
    bool done = true;
    int line = 0;
  };

  Ending run_all(int threads, const Body& body, const Finish& finish);
  Fibre* body_of(int thread);
  void grow(int threads);
  bool can_run(int thread) const;
  int choose();
  int next_to_run();
  void add_event(const char* operation, const void* location, uint64_t value);
  uint32_t byte_for(int count);
  void leave();
  void switch_from(int thread);

  Thread threads_[kFibresMax];
  const Body* body_ = nullptr;
  const Finish* finish_ = nullptr;
  int count_ = 0;
  int current_ = -1;
  int last_ = 0;
  int unfinished_ = 0;
  int steps_ = 0;
  Phase phase_ = Phase::kIdle;
  bool stopped_ = false;
  bool finishing_ = false;
  const char* message_ = nullptr;
  const char* contract_ = "";
  uint64_t reports_before_ = 0;

  const uint8_t* schedule_ = nullptr;
  size_t size_ = 0;
  size_t next_ = 0;
  uint64_t random_ = 0;
  uint32_t calm_ = 0;  // of 256 random bytes, how many are 0 on purpose
  uint8_t taken_[kTakenMax];
  uint8_t counts_[kTakenMax];
  size_t taken_size_ = 0;

  void* objects_[kObjectsMax];
  int alive_ = 0;
  bool keeping_events_ = false;
  std::unique_ptr<Event[]> events_;
  int event_count_ = 0;
  struct Location {
    const void* address;
    const char* name;
  };
  Location locations_[kNamesMax];
  int location_count_ = 0;
  char started_ = 0;  // ThreadSanitizer's names for "the run began" and "the run ended"
  char ended_ = 0;
};

// How many reports ThreadSanitizer has made in this process.
uint64_t thread_reports();

}  // namespace slotfuzz::interleave
