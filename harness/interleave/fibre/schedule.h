// Threads as fibres of one OS thread, of which one runs at a time, and bytes that say which. Code
// under test calls yield() before each operation that other threads can notice; everything between
// two yields is atomic, and real: it is compiled code, which the sanitizers watch. To
// ThreadSanitizer a switch orders nothing, so it reports what would race between real threads.
//
// Note [Thread bytes]
//   A byte is read when more than one thread can go on: 0 keeps the one that ran (or takes the next
//   one if it cannot), k takes the k-th next that can, counted round. Modulo their number, so every
//   string is a schedule; bytes used up count as 0. What was taken, without the zeros at the end,
//   is the normalised schedule, and runs the same again.
//
// Nothing here is known of a policy: `yield` may just as well be called by a drop-in std::atomic.
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
  static constexpr size_t kTakenMax = 4096;  // choices that are written down; more count as 0
  static constexpr int kStepsMax = 20'000;   // beyond, a loop waits for what never comes
  static constexpr int kObjectsMax = 256;    // alive at one time
  static constexpr int kEventsMax = 2000;    // of a printed run; later ones are left out
  static constexpr int kNamesMax = 64;       // of locations in it; later ones have a number

  enum class Ending { kFinished, kStopped, kDeadlock, kTooLong };
  using Body = std::function<void(int thread)>;
  using Finish = std::function<void()>;

  // One operation of a printed run, as the policy tells it. A location without a name is counted.
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

  // Runs `body` once per thread, by these bytes. All that the caller did is ordered before it, and
  // it before all that the caller does afterwards. Fibres that cannot end are abandoned. When all
  // threads have ended, the last of them runs `finish`, after all that they did.
  Ending run(int threads, const Body& body, const uint8_t* schedule, size_t size,
             const Finish& finish = {});
  // The same by random bytes, which taken() then tells.
  Ending run_random(int threads, const Body& body, uint64_t seed, const Finish& finish = {});

  // Of the last run: the bytes, normalised, and of how many each was chosen.
  std::vector<uint8_t> taken() const;
  const uint8_t* choice_counts() const { return counts_; }
  size_t choices() const { return taken_size_; }
  // What stop() said, or null.
  const char* message() const { return message_; }

  // What follows is for code under test. Outside of a run it does nothing.

  // Another thread may go on here.
  static void yield();
  // Another thread must go on here, until `word` is 0; then this one may. Threads that all wait are
  // a deadlock.
  static void yield_until_zero(const std::atomic<uint32_t>& word);
  // The run is a failure, for this reason (a literal). In a thread of a run, does not return.
  static void stop(const char* message);
  // The thread that runs, or -1.
  static int thread();
  // It goes on with this line of its program, from 1: for printed runs.
  static void begin_line(int line);
  // Its line; 0 before the first one.
  static int line();
  // The scheduler between begin_observing() and end_observing(), or null.
  static FibreScheduler* here();

  // While it observes, a scheduler is told of objects and of operations. Of one OS thread, one.
  void begin_observing();
  void end_observing();

  // Objects on the heap that the run makes. A second destruction stops the run.
  void made(void* object);
  bool unmake(void* object);
  int alive() const { return alive_; }
  // Frees what is left, without destructors: an abandoned run cannot do it.
  void free_left();

  void keep_events(bool keep) { keeping_events_ = keep; }
  void add_name(const void* location, const char* name);
  // The thread that runs has done this; nothing outside of a run.
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
