// Parsing and printing, as text before -> text after.
#include "harness/engine/language/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace slotfuzz {
namespace {

class ProgramTest : public ::testing::Test {
 protected:
  std::string round_trip(std::string_view text) { return printer_.print(printer_.parse(text)); }

  OpTable table_;
  Printer printer_{table_};
};

// An instance of each row, with the last value of each operand kind.
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

// The longest prefix of the text that is the operand, and its length, which may be 0: there are
// empty values.
std::optional<std::pair<std::uint8_t, std::size_t>> longest_operand(const OpTable& table,
                                                                    const Operand& operand,
                                                                    std::string_view text) {
  std::optional<std::pair<std::uint8_t, std::size_t>> longest;
  const bool any = operand.kind < 0;
  const int first = any ? 0 : std::max(table.kinds()[operand.kind].first_variable, 0);
  const int count = any ? table.variable_count() : table.kinds()[operand.kind].count;
  for (int value = first; value < first + count; ++value) {
    Op one;
    one.operands = {operand};
    const std::string word = table.print_operand(one, 0, static_cast<std::uint8_t>(value));
    if (text.starts_with(word) && (!longest || word.size() > longest->second)) {
      longest = {value, word.size()};
    }
  }
  return longest;
}

// The reference for the tree of templates: tries each row, in the order of the table.
std::optional<Line> first_row_that_fits(const OpTable& table, const std::string& text) {
  for (std::size_t op = 0; op < table.ops().size(); ++op) {
    const std::string_view pattern = table.ops()[op].pattern;
    Line line{static_cast<std::uint16_t>(op), {}};
    std::string_view left = text;
    for (std::size_t at = 0; at < pattern.size() && left.data(); ++at) {
      if (pattern[at] != '{') {
        left = left.starts_with(pattern[at]) ? left.substr(1) : std::string_view();
        continue;
      }
      const std::size_t index = pattern[at + 1] - '0';
      const auto longest = longest_operand(table, table.ops()[op].operands[index], left);
      left = longest ? left.substr(longest->second) : std::string_view();
      line.operands[index] = longest ? longest->first : 0;
      at += 2;
    }
    if (left.data() && left.empty() && table.print_bare(line) == text) return line;
  }
  return std::nullopt;
}

TEST_F(ProgramTest, a_line_is_the_first_row_that_fits_it) {
  std::minstd_rand rng(1);
  constexpr std::string_view kLetters = "abcst0123.,()[]{}= \"";
  std::size_t parsed = 0;
  for (int round = 0; round < 8; ++round) {
    for (std::size_t op = 0; op < table_.ops().size(); ++op) {
      Line line{static_cast<std::uint16_t>(op), {}};
      const auto& operands = table_.ops()[op].operands;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const int kind = operands[i].kind;
        const int first = kind < 0 ? 0 : std::max(table_.kinds()[kind].first_variable, 0);
        const int count = kind < 0 ? table_.variable_count() : table_.kinds()[kind].count;
        line.operands[i] = static_cast<std::uint8_t>(first + rng() % count);
      }
      std::string text = table_.print(line);
      const std::size_t at = rng() % text.size();
      if (round % 4 == 1) text[at] = kLetters[rng() % kLetters.size()];
      if (round % 4 == 2) text.erase(at, 1);
      if (round % 4 == 3) text.insert(at, 1, kLetters[rng() % kLetters.size()]);
      const auto found = table_.parse(text);
      EXPECT_EQ(found, first_row_that_fits(table_, text)) << text;
      parsed += found.has_value();
    }
  }
  EXPECT_GT(parsed, 2 * table_.ops().size()) << "those without a change";
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
  const std::string_view compound = "with T.no_grad(): t0.mul_(2)\n";
  EXPECT_EQ(round_trip("with suppress(RuntimeError), T.no_grad(): t0.mul_(2)\n"), compound);
  EXPECT_EQ(round_trip(compound), compound);
  EXPECT_EQ(round_trip("with suppress(RuntimeError): with T.no_grad(): t0.mul_(2)\n"), "");
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

TEST_F(ProgramTest, what_a_line_does_is_in_its_row) {
  const auto op = [&](const char* name) { return table_.ops()[*table_.find_op(name)]; };
  EXPECT_EQ(op("tag").attribute, "tag");
  EXPECT_FALSE(op("tag").attribute_of_storage);
  EXPECT_EQ(op("wrap_tag_drop").attribute, "tag");
  EXPECT_TRUE(op("wrap_tag_drop").attribute_of_storage);
  EXPECT_EQ(op("set_grad").attribute, "grad");
  EXPECT_EQ(op("odd_assign").attribute, "");
  EXPECT_TRUE(op("check_grad_kept").has(Effect::kCollects));
  EXPECT_TRUE(op("swap").has(Effect::kSwaps));
  EXPECT_TRUE(op("collect_in_hermetic").has(Effect::kCollects));
  EXPECT_TRUE(op("collect_in_hermetic").has(Effect::kInHermetic));
  EXPECT_TRUE(op("enter_hermetic").has(Effect::kEntersHermetic));
  EXPECT_TRUE(op("exit_hermetic").has(Effect::kLeavesHermetic));
}

}  // namespace
}  // namespace slotfuzz
