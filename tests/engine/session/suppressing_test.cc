// A session skips programs that a file suppresses, also if the file comes while programs run.
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/engine/process/probe.h"
#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

constexpr int kProgramsMax = 1000;

TEST(SuppressingTest, a_file_that_comes_later_suppresses_too) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "suppressing";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Session& session = test_session();
  // In a child, since a session cannot forget a suppression.
  const int status = status_of_child([&] {
    session.start("", folder);
    const Program program = session.printer.parse("t0 = T.ones(1)\nt1 = t0.view(-1)\n");
    if (!session.run(program)) std::_Exit(1);
    std::ofstream(folder / "found.py") << "t0 = T.ones(1)\nt1 = t0.view(-1)\n";
    for (int i = 0; i < kProgramsMax; ++i) {
      if (!session.run(program)) std::_Exit(session.run(Program()) ? 0 : 2);
    }
    std::_Exit(3);
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace slotfuzz
