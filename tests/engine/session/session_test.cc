// A session skips programs that a file suppresses, also if the file comes while programs run, and
// programs of the corpus that another process has loaded.
#include <gtest/gtest.h>

#include <array>
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
    // With a recorder the watchdog, which runs already, needs no other way to end.
    session.start(folder / "recorder", folder);
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

// Runs the program in a child, with a recorder; returns how many programs ran and were spared.
std::string run_of(const std::filesystem::path& folder, const std::string& text) {
  Session& session = test_session();
  std::filesystem::remove(folder / "recorder");
  const int status = status_of_child([&] {
    session.start(folder / "recorder", "", folder / "loaded");
    if (!session.run(session.printer.parse(text)) || session.found()) std::_Exit(1);
    const auto spared = session.end_of_corpus();
    if (!spared || session.end_of_corpus()) std::_Exit(2);
    session.run(session.printer.parse("del t3\n"));
    std::ofstream(folder / "spared") << *spared;
  });
  EXPECT_EQ(status, 0);
  return std::to_string(read_recording(folder / "recorder").count) + " ran, " +
         read_file(folder / "spared") + " spared";
}

TEST(CorpusCacheTest, a_program_that_another_process_has_loaded_does_not_run) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "loaded";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  EXPECT_EQ(run_of(folder, "t0 = T.ones(1)\n"), "2 ran, 0 spared");
  EXPECT_EQ(run_of(folder, "t0 = T.ones(1)\n"), "1 ran, 1 spared");
  EXPECT_EQ(run_of(folder, "t0 = T.ones(4)\n"), "2 ran, 0 spared");
}

TEST(CorpusCacheTest, an_entry_has_what_the_program_did) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "cache";
  std::filesystem::remove(path);
  std::array<std::uint8_t, kStateCounters> states{};
  states[0] = states[kStateCounters - 1] = 1;
  LineSet raised;
  raised.set(2);
  CorpusCache(path).add("t0 = T.ones(1)\n", raised, states);
  std::ofstream(path, std::ios::app) << "a record that a full disk has cut off";
  const CorpusCache cache(path);
  const CorpusCache::Entry* entry = cache.find("t0 = T.ones(1)\n");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->raised, raised);
  std::array<std::uint8_t, kStateCounters> marked{};
  mark(*entry, marked);
  EXPECT_EQ(marked, states);
  EXPECT_EQ(cache.find("t0 = T.ones(4)\n"), nullptr);
  EXPECT_THROW(CorpusCache("/not/there"), StartError);
}

}  // namespace
}  // namespace slotfuzz
