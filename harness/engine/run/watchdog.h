// The watchdog: when a line of a program does not come back, it says where each thread stands and
// what it waits for, and ends the process. Without it a deadlock is a timeout: no word of who held
// what.
//
// A line that runs hangs when it has used a processor for so long: on a busy machine it may take
// many times that. One whose threads all sleep is not waited for.
//
// It is a thread of its own, started with the first line that runs, so that a process which only
// forks has none. A line costs two stores.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "harness/engine/language/program.h"
#include "harness/engine/process/stacks.h"

namespace slotfuzz {

class Interpreter;

// What the process exits with: every thread waits, or some thread runs.
inline constexpr int kDeadlockExit = 78;
inline constexpr int kHangExit = 79;

// Starting another interpreter takes longest, some 0.1 s; a machine may be a hundred times slower.
inline constexpr double kLineSecondsDefault = 10;

class Watchdog {
 public:
  Watchdog(const OpTable& table, const Interpreter& interpreter);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // For the lines to come; before the first of them.
  void set_limit(double line_seconds);
  // A hang ends the process by SIGABRT, on which libFuzzer writes the program to a file; before the
  // first line. Without it the process exits, and whoever started it has the program.
  void abort_on_hang();

  void begin_line(std::size_t index, const Line& line) {
    if (!thread_.joinable()) start();
    // Relaxed: the store below publishes it.
    line_.store(key_of(line) | std::uint64_t{index} << kIndexShift, std::memory_order_relaxed);
    step();
  }
  // What follows the last line.
  void begin_reset() {
    line_.store(kReset, std::memory_order_relaxed);  // as above
    step();
  }
  void end() { step(); }

 private:
  // Bits of key_of() are below.
  static constexpr int kIndexShift = 48;
  static constexpr std::uint64_t kReset = ~std::uint64_t{0};

  // Odd while something is running. One thread steps. Release: pairs with the acquire in watch().
  void step() { step_.store(step_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  void start();
  void watch();
  // Ends the process, unless the step is over meanwhile.
  void report(std::uint64_t step, double seconds) const;
  std::string where() const;

  const OpTable& table_;
  std::chrono::duration<double> limit_{kLineSecondsDefault};
  std::atomic<std::uint64_t> step_{0};
  std::atomic<std::uint64_t> line_{kReset};
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool over_ = false;
  bool aborts_ = false;
  std::thread thread_;
};

}  // namespace slotfuzz
