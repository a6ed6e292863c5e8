// The flight recorder.
#include "harness/engine/session/recorder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "harness/engine/run/interpreter.h"

namespace slotfuzz {
namespace {

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() {
    path_ = std::filesystem::path(::testing::TempDir()) /
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove(path_);
  }
  ~RecorderTest() override { std::filesystem::remove(path_); }

  std::filesystem::path path_;
};

TEST_F(RecorderTest, keeps_the_last_programs_in_order) {
  Recorder recorder(path_);
  for (std::size_t i = 0; i < kRecorderSlots + 3; ++i) recorder.write(std::to_string(i));
  const auto programs = read_recording(path_).programs;
  ASSERT_EQ(programs.size(), kRecorderSlots);
  EXPECT_EQ(programs.front(), "3");
  EXPECT_EQ(programs.back(), std::to_string(kRecorderSlots + 2));
}

TEST_F(RecorderTest, what_is_written_is_there_without_closing) {
  Recorder recorder(path_);
  recorder.write("gc.collect()\n");
  EXPECT_EQ(read_recording(path_).programs, std::vector<std::string>{"gc.collect()\n"});
}

TEST_F(RecorderTest, long_programs_are_cut) {
  Recorder recorder(path_);
  recorder.write(std::string(2 * kRecorderSlotBytes, 'x'));
  EXPECT_LT(read_recording(path_).programs.at(0).size(), kRecorderSlotBytes);
}

TEST_F(RecorderTest, another_file_is_an_error) {
  std::ofstream(path_) << "not a recording";
  EXPECT_THROW(read_recording(path_), StartError);
  EXPECT_THROW(read_recording("/nowhere/at/all"), StartError);
  EXPECT_THROW(Recorder("/nowhere/at/all"), StartError);
}

}  // namespace
}  // namespace slotfuzz
