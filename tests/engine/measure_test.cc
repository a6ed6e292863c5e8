// Where the time goes: every line is counted, and no part is missing.
#include "harness/engine/measure.h"

#include <gtest/gtest.h>

#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

TEST(measure, every_line_has_a_share) {
  const nlohmann::json told = measure(test_session(), 1);
  std::size_t lines = 0;
  for (const auto& row : told["ops"]) lines += row["lines"].get<std::size_t>();
  EXPECT_EQ(lines, told["programs"].get<std::size_t>() * kMeasuredLines);
  for (const char* part : {"lines", "reset", "ledger", "text"}) {
    EXPECT_GT(told["parts"][part].get<double>(), 0) << part;
  }
}

}  // namespace
}  // namespace slotfuzz
