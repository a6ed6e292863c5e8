// The watchdog: when a program line hangs, it reports where each thread is and what it waits for,
// and ends the process. Without it a deadlock is a bare timeout that names no lock and no owner.
//
// A running line hangs when it has used the limit in CPU time, since a busy machine may stretch its
// elapsed time many times. A line whose threads all sleep hangs at the limit in elapsed time.
//
// The watchdog is a thread, started with the first line that runs: a process that only forks has no
// such thread. It costs two stores per line.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "harness/engine/language/program.h"
#include "harness/engine/process/stacks.h"

namespace slotfuzz {

class Interpreter;

// Exit codes: every thread waits, or some thread runs.
inline constexpr int kDeadlockExit = 78;
inline constexpr int kHangExit = 79;

// Starting another interpreter is slowest, at about 0.1 s; a machine may be a hundred times slower.
inline constexpr double kLineSecondsDefault = 10;

class Watchdog {
 public:
  Watchdog(const OpTable& table, const Interpreter& interpreter);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Sets the limit of later lines. Call this before the first line.
  void set_limit(double line_seconds);
  // Makes a hang end the process by SIGABRT, on which libFuzzer writes the program to a file. Call
  // this before the first line. Otherwise the process exits, and its parent has the program.
  void abort_on_hang();

  // Calls ACT with the stacks of a hang, on the watchdog's thread, before the process ends. Call
  // this before the first line.
  void on_hang(std::function<void(const std::vector<ThreadStack>&)> act);

  // Prints the Python stacks of all threads to stderr, this one's as the current one. Allocates
  // nothing and needs no GIL.
  static void print_python_stacks();

  void begin_line(std::size_t index, const Line& line) {
    if (!thread_.joinable()) start();
    // Relaxed: the store below publishes it.
    line_.store(key_of(line) | std::uint64_t{index} << kIndexShift, std::memory_order_relaxed);
    step();
  }
  // The phase after the last line.
  void begin_reset() {
    line_.store(kReset, std::memory_order_relaxed);  // as above
    step();
  }
  void end() { step(); }

 private:
  // The bits of key_of() are below this one.
  static constexpr int kIndexShift = 58;
  static constexpr std::uint64_t kReset = ~std::uint64_t{0};

  // Odd while a line runs. One thread writes it. Release: pairs with the acquire in watch().
  void step() { step_.store(step_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  void start();
  void watch();
  // Ends the process, unless the step ends in the meantime.
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
  std::function<void(const std::vector<ThreadStack>&)> on_hang_;
  std::thread thread_;
};

}  // namespace slotfuzz
