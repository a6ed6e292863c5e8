// The crash note that a process leaves for its parent, in a build without sanitizer.
#include "harness/engine/process/crash.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "harness/engine/process/stacks.h"

namespace slotfuzz {

// Exported, so that they have names; not static, not inlined.
[[gnu::noinline]] void write_to(int* place) { *const_cast<volatile int*>(place) = 7; }
[[gnu::noinline]] void jump_to(void (*place)()) {
  place();
  *static_cast<volatile char*>(nullptr) = 0;  // no tail call
}
[[gnu::noinline]] int recur(int depth) {
  volatile char room[4096] = {};
  return depth > 0 ? recur(depth + 1) + room[depth % 4096] : 0;
}

namespace {

// Volatile, or the compiler would clone functions for the constant.
volatile std::uintptr_t nowhere = 0x60e4;

// A function without a capture finds it here.
int pipe_of_test = -1;

class CrashTest : public ::testing::Test {
 protected:
  CrashTest()
      : note_(*new (mmap(nullptr, sizeof(CrashNote), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0)) CrashNote) {}
  ~CrashTest() override { munmap(&note_, sizeof note_); }

  // The report of a child that runs BODY, and the signal that ended it.
  template <class Body>
  std::string report_after(Body body, int signal) {
    const pid_t child = fork();
    if (child == 0) {
      const rlimit none{};
      setrlimit(RLIMIT_CORE, &none);
      note_crashes(note_);
      body();
      std::_Exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    return report_of(note_);
  }

  CrashNote& note_;
};

TEST_F(CrashTest, a_sanitizer_reports_itself) {
  if (!kHasSanitizer) GTEST_SKIP() << "this build has none";
  note_crashes(note_);
  EXPECT_EQ(report_of(note_), "");
}

TEST_F(CrashTest, a_bad_address_is_reported_with_the_function_that_used_it) {
  if (kHasSanitizer) GTEST_SKIP() << "its sanitizer tells";
  const auto report = report_after([] { write_to(reinterpret_cast<int*>(nowhere)); }, SIGSEGV);
  EXPECT_EQ(report.substr(0, report.find('\n')), "slotfuzz: crash: SEGV on address 0x60e4");
  EXPECT_NE(report.find("    #0 "), std::string::npos);
  EXPECT_LT(report.find(" in slotfuzz::write_to(int*) ("), report.find("    #1 ")) << report;
}

TEST_F(CrashTest, a_jump_to_nowhere_is_reported_by_where_it_came_from) {
  if (kHasSanitizer) GTEST_SKIP() << "its sanitizer tells";
  const auto report =
      report_after([] { jump_to(reinterpret_cast<void (*)()>(nowhere)); }, SIGSEGV);
  EXPECT_LT(report.find(" in slotfuzz::jump_to(void (*)()) ("), report.find("    #1 ")) << report;
}

TEST_F(CrashTest, a_jump_into_the_stack_is_no_stack_that_has_run_out) {
  if (kHasSanitizer) GTEST_SKIP() << "its sanitizer tells";
  const auto jump = [] {
    volatile char room[64] = {};
    jump_to(reinterpret_cast<void (*)()>(const_cast<char*>(room)));
  };
  EXPECT_TRUE(report_after(jump, SIGSEGV).starts_with("slotfuzz: crash: SEGV on "));
}

TEST_F(CrashTest, a_stack_that_has_run_out_is_reported_as_that) {
  if (kHasSanitizer) GTEST_SKIP() << "its sanitizer tells";
  const auto report = report_after([] { recur(1); }, SIGSEGV);
  EXPECT_TRUE(report.starts_with("slotfuzz: crash: stack-overflow on ")) << report;
  EXPECT_NE(report.find(" in slotfuzz::recur(int) ("), std::string::npos) << report;
}

TEST_F(CrashTest, an_abort_has_no_address) {
  if (kHasSanitizer) GTEST_SKIP() << "its sanitizer tells";
  const auto report = report_after([] { std::abort(); }, SIGABRT);
  EXPECT_TRUE(report.starts_with("slotfuzz: crash: ABRT\n")) << report;
}

TEST_F(CrashTest, a_process_acts_as_it_dies) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pipe_of_test = ends[1];
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{};
    setrlimit(RLIMIT_CORE, &none);
    note_crashes(note_);
    act_at_death([] {
      if (write(pipe_of_test, "acted", 5) < 0) std::_Exit(0);
    });
    write_to(reinterpret_cast<int*>(nowhere));
    std::_Exit(0);
  }
  close(ends[1]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  char text[8] = {};
  EXPECT_EQ(read(ends[0], text, sizeof text), 5);
  EXPECT_STREQ(text, "acted");
  close(ends[0]);
}

}  // namespace
}  // namespace slotfuzz
