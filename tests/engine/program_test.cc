// Parsing and printing, as text before -> text after.
#include "harness/engine/program.h"

#include <gtest/gtest.h>

#include <random>

namespace slotfuzz {
namespace {

class ProgramTest : public ::testing::Test {
 protected:
  std::string round_trip(std::string_view text) { return printer_.print(printer_.parse(text)); }

  OpTable table_;
  Printer printer_{table_};
};

// Some instance of each row, with the last value of each operand kind.
Line last_instance(const OpTable& table, std::size_t op) {
  Line line{static_cast<std::uint16_t>(op), {}};
  const auto& operands = table.ops()[op].operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].kind < 0) continue;
    const Kind& kind = table.kinds()[operands[i].kind];
    const int first = kind.is_variable() ? kind.first_variable : 0;
    line.operands[i] = static_cast<std::uint8_t>(first + kind.count - 1);
  }
  return line;
}

TEST_F(ProgramTest, every_row_prints_and_parses_back) {
  for (std::size_t op = 0; op < table_.ops().size(); ++op) {
    const Line line = last_instance(table_, op);
    const auto parsed = table_.parse(table_.print(line));
    ASSERT_TRUE(parsed) << table_.print(line);
    // Two rows may print the same text only if they are the same row.
    EXPECT_EQ(*parsed, line) << table_.print(line) << " also is " << table_.ops()[parsed->op].name;
  }
}

TEST_F(ProgramTest, names_of_ops_are_unique) {
  for (std::size_t op = 0; op < table_.ops().size(); ++op) {
    EXPECT_EQ(table_.find_op(table_.ops()[op].name), op);
  }
}

TEST_F(ProgramTest, instances_stay_and_all_else_goes) {
  const std::string text =
      "import os\n"
      "t0 = T.ones(1)\n"
      "os.system('true')\n"
      "  s0 = t0.untyped_storage()\n"
      "s0 = t0.untyped_storage()\n"
      "del s0; import os\n"
      "s9 = t0.untyped_storage()\n"
      "t0 = T.ones(7)\n"
      "del s0";
  EXPECT_EQ(round_trip(text), "t0 = T.ones(1)\ns0 = t0.untyped_storage()\ndel s0\n");
  EXPECT_EQ(printer_.parse(text).dropped, 6u);
}

TEST_F(ProgramTest, a_placeholder_that_stands_twice_must_match_twice) {
  EXPECT_EQ(round_trip("s0.me = s0\ns0.me = s1\n"), "s0.me = s0\n");
}

TEST_F(ProgramTest, suppress_is_passed_over) {
  EXPECT_EQ(round_trip("with suppress(RuntimeError): s0.resize_(4)\n"), "s0.resize_(4)\n");
  EXPECT_EQ(round_trip("with suppress(f()): s0.resize_(4)\n"), "");
  EXPECT_EQ(round_trip("with suppress(X): with suppress(X): s0.resize_(4)\n"), "");
}

TEST_F(ProgramTest, windows_line_ends_parse) {
  EXPECT_EQ(round_trip("gc.collect()\r\ngc.collect()\r\n"), "gc.collect()\ngc.collect()\n");
}

TEST_F(ProgramTest, long_programs_are_cut_and_counted) {
  std::string text;
  for (std::size_t i = 0; i < kLineMax + 5; ++i) text += "gc.collect()\n";
  const Program program = printer_.parse(text);
  EXPECT_EQ(program.lines.size(), kLineMax);
  EXPECT_EQ(program.dropped, 5u);
}

TEST_F(ProgramTest, any_bytes_parse) {
  std::minstd_rand rng(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(rng() % 400, '\0');
    for (char& byte : bytes) byte = static_cast<char>(rng() % 8 ? rng() % 128 : rng());
    EXPECT_EQ(round_trip(bytes), round_trip(round_trip(bytes)));
  }
}

TEST_F(ProgramTest, what_a_line_sets_is_read_off_its_template) {
  const auto op = [&](const char* name) { return table_.ops()[*table_.find_op(name)]; };
  EXPECT_EQ(op("tag").attribute, "tag");
  EXPECT_FALSE(op("tag").attribute_of_storage);
  EXPECT_EQ(op("wrap_tag_drop").attribute, "tag");
  EXPECT_TRUE(op("wrap_tag_drop").attribute_of_storage);
  EXPECT_EQ(op("set_grad").attribute, "grad");
  EXPECT_EQ(op("odd_assign").attribute, "");
  EXPECT_TRUE(op("check_grad_kept").collects);
  EXPECT_TRUE(op("swap").swaps);
  EXPECT_TRUE(op("collect_in_hermetic").collects);
  EXPECT_TRUE(op("collect_in_hermetic").in_hermetic);
  EXPECT_TRUE(op("enter_hermetic").enters_hermetic);
  EXPECT_TRUE(op("exit_hermetic").exits_hermetic);
}

}  // namespace
}  // namespace slotfuzz
