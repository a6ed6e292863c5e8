// Engine E3: runs the threads of a program on real threads, many times, with or without random
// yields before their operations. It finds bugs by chance; it shows how much the other engines gain
// over chance.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace slotfuzz::interleave {

class Program;

class ThreadsRun {
 public:
  struct Options {
    uint64_t executions_max = UINT64_MAX;
    double seconds_max = 0;  // 0: no limit
    bool yields = false;
    uint64_t seed = 1;
  };
  struct Result {
    uint64_t executions = 0;
    bool failed = false;
    std::string kind;
    std::string contract;  // as in Failure
    std::string message;
  };
  // A thread that found a broken invariant can neither continue nor be stopped: it calls this
  // function, which must end the process. Without it the process ends with the message.
  using OnFailure = std::function<void(const Result&)>;

  explicit ThreadsRun(OnFailure on_failure = nullptr);
  ~ThreadsRun();

  Result run(Program& program, const Options& options);

  // For the policy
  static void maybe_yield();
  static void fail_here(const char* contract, const char* what);
  // The worker thread that calls, or -1.
  static int thread();
  // With yields, some waits wake spuriously.
  static bool is_spurious();
  // The calling thread waits for a condition from now on; then a notification ends the wait of some
  // thread. If every thread waits or has ended, the run fails.
  static void begin_wait();
  static void end_wait();
  static void count_here(int objects);

 private:
  class Workers;

  void check_end(Result* result);
  void fail(const char* kind, const char* contract, const char* what);
  void change_able(int64_t change);

  OnFailure on_failure_;
  std::unique_ptr<Workers> workers_;
  uint64_t executions_ = 0;
  std::atomic<int> alive_{0};
  std::atomic<int64_t> able_{0};  // threads that can run, and kWaiting for each that waits
};

}  // namespace slotfuzz::interleave
