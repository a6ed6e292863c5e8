// Real threads that are reused for each execution: starting them would cost more than the
// execution, and would order them.

#include "harness/interleave/compiled/threads_run.h"

#include <sched.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "harness/engine/check.h"
#include "harness/interleave/model/model_run.h"
#include "harness/interleave/fibre/schedule.h"

namespace slotfuzz::interleave {

namespace {

constexpr int kYieldOneIn = 4;
constexpr int kSpuriousOneIn = 8;
constexpr int kSpinsMax = 1000;  // then another thread may need the core
constexpr int64_t kWaiting = 1 << 16;

// State of a worker thread, which the static functions of the policy find by their thread.
struct Here {
  ThreadsRun* run = nullptr;
  uint64_t random = 0;  // 0: no yields
  int thread = -1;
};
constinit thread_local Here here;

bool one_in(int n) {
  if (here.random == 0) return false;
  uint64_t x = here.random;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  here.random = x;
  return x % n == 0;
}

}  // namespace

class ThreadsRun::Workers {
 public:
  Workers(ThreadsRun* run, int count, const Options& options) {
    for (int i = 0; i < count; ++i) {
      const uint64_t random = options.yields ? (options.seed * 1000 + i) * 2 + 1 : 0;
      threads_.emplace_back([this, run, i, random] {
        here = {run, random, i};
        work(i);
      });
    }
  }
  ~Workers() {
    leave_ = true;
    begin();
    for (std::thread& thread : threads_) thread.join();
  }

  void execute(Program& program) {
    program_ = &program;
    // Relaxed, both: begin() publishes them.
    working_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
    arrived_.store(0, std::memory_order_relaxed);
    here.run->able_.store(static_cast<int64_t>(threads_.size()), std::memory_order_relaxed);
    begin();
    // Acquire: pairs with the workers' decrements, so that their work happens before what follows.
    for (int left; (left = working_.load(std::memory_order_acquire)) > 0;) {
      working_.wait(left, std::memory_order_acquire);
    }
  }

 private:
  void begin() {
    generation_.fetch_add(1, std::memory_order_release);  // pairs with the wait in work()
    generation_.notify_all();
  }

  void work(int thread) {
    for (uint32_t seen = 0;; ++seen) {
      generation_.wait(seen, std::memory_order_acquire);  // pairs with begin()
      if (leave_) return;
      line_up();
      program_->run(thread);
      here.run->change_able(-1);
      // Release: pairs with the wait in execute(). Workers share nothing, so they need no order.
      if (working_.fetch_sub(1, std::memory_order_release) == 1) working_.notify_one();
    }
  }

  // Without this, the first thread would end before the second wakes. Relaxed: it must not order
  // them.
  void line_up() {
    const int all = static_cast<int>(threads_.size());
    arrived_.fetch_add(1, std::memory_order_relaxed);
    for (int spins = 0; arrived_.load(std::memory_order_relaxed) < all; ++spins) {
      if (spins > kSpinsMax) sched_yield();
    }
  }

  std::vector<std::thread> threads_;
  Program* program_ = nullptr;
  bool leave_ = false;
  std::atomic<uint32_t> generation_{0};
  std::atomic<int> working_{0};
  std::atomic<int> arrived_{0};
};

ThreadsRun::ThreadsRun(OnFailure on_failure) : on_failure_(std::move(on_failure)) {}
ThreadsRun::~ThreadsRun() = default;

ThreadsRun::Result ThreadsRun::run(Program& program, const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const uint64_t reports_before = thread_reports();
  executions_ = 0;
  here = {this, 0, -1};
  workers_ = std::make_unique<Workers>(this, program.threads(), options);
  Result result;
  while (executions_ < options.executions_max && !result.failed) {
    if (options.seconds_max > 0 && seconds() >= options.seconds_max) break;
    ++executions_;
    program.set_up();
    workers_->execute(program);
    program.finish();
    program.tear_down();
    if (thread_reports() != reports_before) {
      result = {0, true, "race", "", "ThreadSanitizer's report is on stderr"};
    }
    check_end(&result);
  }
  workers_.reset();
  here = {};
  result.executions = executions_;
  return result;
}

void ThreadsRun::check_end(Result* result) {
  // Relaxed: execute() has waited for the workers.
  if (alive_.exchange(0, std::memory_order_relaxed) == 0 || result->failed) return;
  *result = {0, true, "leak", "", "an object was never freed"};
}

void ThreadsRun::maybe_yield() {
  if (one_in(kYieldOneIn)) sched_yield();
}

int ThreadsRun::thread() { return here.thread; }

bool ThreadsRun::is_spurious() { return one_in(kSpuriousOneIn); }

void ThreadsRun::begin_wait() { here.run->change_able(kWaiting - 1); }

void ThreadsRun::end_wait() { here.run->change_able(1 - kWaiting); }

// Relaxed: the number must not order the threads. A thread that notifies counts the thread that it
// wakes while it can run itself, and before the other goes on. So the number of threads that can
// run is 0 only when no thread can.
void ThreadsRun::change_able(int64_t change) {
  const int64_t now = able_.fetch_add(change, std::memory_order_relaxed) + change;
  if (now != 0 && now % kWaiting == 0) fail("deadlock", "", "every thread waits for another");
}

void ThreadsRun::fail_here(const char* contract, const char* what) {
  CHECK(here.run != nullptr, "an invariant outside of a run: " << what);
  here.run->fail("check", contract, what);
}

void ThreadsRun::count_here(int objects) {
  CHECK(here.run != nullptr, "an object outside of a run");
  // Relaxed: the count must not order the threads.
  here.run->alive_.fetch_add(objects, std::memory_order_relaxed);
}

void ThreadsRun::fail(const char* kind, const char* contract, const char* what) {
  if (on_failure_) on_failure_({executions_, true, kind, contract, what});
  std::fprintf(stderr, "slotfuzz: %s\n", words_of(contract, what).c_str());
  std::fflush(stderr);
  std::_Exit(1);
}

}  // namespace slotfuzz::interleave
