// The watchdog's report of lines that hang, and how the process ends.
#include "harness/engine/run/watchdog.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

class WatchdogDeathTest : public ::testing::Test {
 protected:
  // Runs in a new process that has no thread yet: a fork of this one would lack some threads.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  // Runs BODY as if it were the third line of a program, for as long as it takes.
  template <class Body>
  static void hang_in(Body body, double limit_seconds = 0.2) {
    Session& session = test_session();
    const Program program = session.printer.parse("lane(2, \"s3.other = s1\")\n");
    Watchdog watchdog(session.table, session.interpreter);
    watchdog.set_limit(limit_seconds);
    watchdog.begin_line(2, program.lines.at(0));
    body();
    watchdog.end();
  }
};

TEST_F(WatchdogDeathTest, threads_that_all_wait_are_a_deadlock) {
  const auto wait_for_each_other = [] {
    std::mutex mutex;
    mutex.lock();
    std::thread([&] { mutex.lock(); }).join();
  };
  EXPECT_EXIT(hang_in(wait_for_each_other), ::testing::ExitedWithCode(kDeadlockExit),
              "slotfuzz: deadlock: line 3, `lane.2, .s3.other = s1.*`,(.|\n)*"
              "main thread .0x[0-9a-f]+. waits for the end of a thread:(.|\n)*"
              "thread 1 .0x[0-9a-f]+. waits for a mutex:(.|\n)*most recent call first");
}

TEST_F(WatchdogDeathTest, a_thread_that_runs_is_no_deadlock) {
  const auto run_for_ever = [] {
    // Relaxed: it publishes no data.
    std::atomic<bool> over{false};
    while (!over.load(std::memory_order_relaxed)) std::this_thread::yield();
  };
  EXPECT_EXIT(hang_in(run_for_ever), ::testing::ExitedWithCode(kHangExit),
              "slotfuzz: hang: line 3(.|\n)*main thread .0x[0-9a-f]+. runs:");
}

// A busy machine can keep a line off the processor; here SIGSTOP does so.
TEST_F(WatchdogDeathTest, a_line_that_gets_no_processor_does_not_hang) {
  constexpr std::chrono::milliseconds kLimit(2000), kLook(300), kReport(1500);
  const auto work_after_a_stop = [&] {
    pid_t other = 0;
    const auto work = [](std::chrono::milliseconds time) {
      const auto until = std::chrono::steady_clock::now() + time;
      while (std::chrono::steady_clock::now() < until) {
      }
    };
    const auto body = [&] {
      const pid_t stopped = getpid();
      other = fork();
      if (other == 0) {
        std::this_thread::sleep_for(kLook + kLimit);
        kill(stopped, SIGCONT);
        _exit(0);
      }
      // The watchdog sees the line begin, and has the time for a report after the stop.
      work(kLook);
      raise(SIGSTOP);
      work(kReport);
    };
    hang_in(body, std::chrono::duration<double>(kLimit).count());
    waitpid(other, nullptr, 0);
    std::exit(0);
  };
  EXPECT_EXIT(work_after_a_stop(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace slotfuzz
