// The op table as text: the meaning of a row, the order of rows, and the messages for mistakes.
#include <gtest/gtest.h>

#include "harness/engine/language/program.h"
#include "harness/engine/language/table_rows.h"

namespace slotfuzz {
namespace {

constexpr const char* kKinds =
    "[variables]\n"
    "s = ['storage', 's', 2]\n"
    "[values]\n"
    "n = ['size', ['1', ['0', 'shrinks'], ['-1', 'raises odd']]]\n";

TableRows read(const std::string& text) {
  return rows_of({{"kinds.ops", kKinds}, {"some.ops", text}});
}

std::string mistake(const std::string& text) {
  try {
    read(text);
  } catch (const TableError& error) {
    return error.what();
  }
  return "no mistake";
}

TEST(TableTest, a_row_is_an_op) {
  const TableRows rows = read(
      "[tensor]\n"
      "tag = ['s n', '{0}.tag = {1}', 'T.x', 'Sets it.',\n"
      "       'sets_attribute=storage.tag rare slow certain timed']\n");
  ASSERT_EQ(rows.ops.size(), 1u);
  const Op& op = rows.ops[0];
  EXPECT_EQ(op.name, "tag");
  EXPECT_EQ(op.pattern, "{0}.tag = {1}");
  EXPECT_EQ(op.needs, "T.x");
  EXPECT_EQ(op.theme, Theme::kTensor);
  EXPECT_EQ(op.attribute, "tag");
  EXPECT_TRUE(op.attribute_of_storage);
  EXPECT_TRUE(op.has(Effect::kSetsAttribute));
  EXPECT_TRUE(op.is_rare());
  EXPECT_TRUE(op.slow);
  EXPECT_TRUE(op.certain);
  EXPECT_TRUE(op.timed);
  EXPECT_EQ(op.tier, Tier::kPublic);
}

TEST(TableTest, a_value_may_have_effects_and_a_tier) {
  const Kind size = read("").kinds.at(1);
  EXPECT_EQ(size.values, (std::vector<std::string>{"1", "0", "-1"}));
  EXPECT_EQ(size.tiers, (std::vector<Tier>{Tier::kPublic, Tier::kPublic, Tier::kOdd}));
  EXPECT_FALSE(size.effects[0].has(Effect::kShrinks));
  EXPECT_TRUE(size.effects[1].has(Effect::kShrinks));
}

TEST(TableTest, the_key_of_a_kind_is_a_word) {
  const TableRows rows = read(
      "[variables]\nstore = ['shop', 'x', 2]\n"
      "[values]\nstep_of = ['step', ['1']]\n"
      "[storage]\none = ['=store -s step_of ? n', '{0} = {2}, {3}, {4}; del {1}', '', '']\n");
  const std::vector<Operand>& operands = rows.ops.at(0).operands;
  ASSERT_EQ(operands.size(), 5u);
  EXPECT_EQ(operands[0].use, Use::kBind);
  EXPECT_EQ(rows.kinds.at(operands[0].kind).name, "shop");
  EXPECT_EQ(operands[1].use, Use::kUnbind);
  EXPECT_EQ(rows.kinds.at(operands[1].kind).name, "storage");
  EXPECT_EQ(rows.kinds.at(operands[2].kind).name, "step");
  EXPECT_EQ(operands[3].kind, -1);
  EXPECT_EQ(rows.kinds.at(operands[4].kind).name, "size");
}

TEST(TableTest, rows_stand_by_theme_then_file_then_line) {
  const OpTable table({{"a.ops", "[thread]\nlast = ['', 'd()', '', '']\n"
                                 "[storage]\nzeta = ['', 'a()', '', '']\n"
                                 "alpha = ['', 'b()', '', '']\n"},
                       {"b.ops", "[storage]\nbeta = ['', 'c()', '', '']\n"}});
  std::string names;
  for (const Op& op : table.ops()) names += op.name + " ";
  EXPECT_EQ(names, "zeta alpha beta last ");
}

TEST(TableTest, the_table_of_the_checkout_is_the_one_of_the_binary) {
  const OpTable built, read(read_table("ops"));
  ASSERT_EQ(built.ops().size(), read.ops().size());
  for (std::size_t i = 0; i < built.ops().size(); ++i) {
    EXPECT_EQ(built.ops()[i].name, read.ops()[i].name);
    EXPECT_EQ(built.ops()[i].effects.words(), read.ops()[i].effects.words());
  }
}

TEST(TableTest, no_line_is_longer_than_a_line_may_be) {
  const OpTable table;
  for (const Op& op : table.ops()) {
    std::size_t length = op.pattern.size() + kLanePattern.size();
    for (const Operand& operand : op.operands) {
      std::size_t longest = 2;
      if (!table.is_variable(operand)) {
        for (const std::string& value : table.kinds()[operand.kind].values) {
          longest = std::max(longest, value.size());
        }
      }
      length += longest;
    }
    EXPECT_LE(length, kLineLengthMax) << op.name;
  }
}

TEST(TableTest, a_line_has_the_effects_of_its_values) {
  const OpTable table;
  const auto collects = [&](std::string_view text) {
    const auto line = table.parse(text);
    EXPECT_TRUE(line) << text;
    return line && table.has(*line, Effect::kCollects);
  };
  EXPECT_TRUE(collects("gc.collect()"));
  EXPECT_TRUE(collects("check_windows('own', 'drop', 'own', 'own', 'own')"));
  EXPECT_FALSE(collects("check_windows('own', 'own', 'own', 'own', 'own')"));
}

TEST(TableTest, a_mistake_is_named_with_its_place) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"[storage]\none = ['s', 'f({0}', '', ''\n", "some.ops:"},
      {"one = []\n", "some.ops:1: a row stands before the first section"},
      {"[storag]\none = ['', 'f()', '', '']\n", "some.ops:2: no section is called storag"},
      {"[storage]\n\none = 'f()'\n", "some.ops:3: one is not a list"},
      {"[storage]\none = ['', 'f()', '']\n",
       "some.ops:2: a row is a list of operands, template, needs, sentence and perhaps words; "
       "one has 3 parts"},
      {"[storage]\none = ['', 'f()', '', 7]\n", "some.ops:2: one has no sentence, which is a text"},
      {"[storage]\none = ['S', 'f({0})', '', '']\n",
       "some.ops:2: one: no kind of operand has the key `S`"},
      {"[storage]\none = ['!s', 'f({0})', '', '']\n",
       "some.ops:2: one: `!s` has no mark of operands"},
      {"[storage]\none = ['s s s s s s', 'f({0})', '', '']\n",
       "some.ops:2: one: a row has five operands at most"},
      {"[storage]\none = ['s', 'f({1})', '', '']\n",
       "some.ops:2: one: the template has `{1}`, and the row 1 operands"},
      {"[storage]\none = ['s s', 'f({0})', '', '']\n",
       "some.ops:2: one: the template has no `{1}`"},
      {"[storage]\none = ['+s', 'f({0})', '', '']\n", "some.ops:2: one: `{0}` is not bound"},
      {"[storage]\none = ['-s', 'f({0})', '', '']\n", "some.ops:2: one: `{0}` is not unbound"},
      {"[storage]\none = ['', 'f(\"\")', '', '']\n",
       "some.ops:2: one: a template has no double quote, backslash or end of line"},
      {"[storage]\none = ['', 'f()', '', '', 'colects']\n",
       "some.ops:2: no effect and no mark is called colects; there are "},
      {"[storage]\none = ['', 'f()', '', '', 'checks=wheel']\n",
       "some.ops:2: one: no kind of variables is called wheel"},
      {"[storage]\none = ['', 'f()', '', '', 'sets_attribute']\n",
       "some.ops:2: no effect and no mark is called sets_attribute; there are "},
      {"[storage]\none = ['', 'f()', '', '']\n[tensor]\none = ['', 'g()', '', '']\n",
       "some.ops:4: one has a row already, at some.ops:2"},
      {"[variables]\nt = ['tensor', 's', 2]\n",
       "some.ops:2: the kind storage has that key or prefix already"},
      {"[variables]\nt = ['tensor', 't', 0]\n",
       "some.ops:2: variables of a kind have a prefix of one letter and a count of 1 to 10"},
      {"[values]\nv = ['byte', []]\n",
       "some.ops:2: a kind of values has a list of 1 to 256 of them"},
      {"[values]\nv = ['byte', ['1', ['2']]]\n",
       "some.ops:2: a value is a text, or a list of a text and its words"},
      {"[values]\nv = ['byte', [7]]\n",
       "some.ops:2: a value is a text, or a list of a text and its words"},
      {"[values]\nv = ['byte', ['1',\n ['2', 'shrink']]]\n",
       "some.ops:3: no effect and no tier is called shrink; there are underscore odd "},
      {"[values]\nv = ['byte', ['1',\n\n ['2', 'odd underscore']]]\n",
       "some.ops:4: two tiers are declared"},
      {"[storage]\none = ['', 'f()', '', '', 'odd underscore']\n",
       "some.ops:2: two tiers are declared"},
      {"[values]\n'' = ['byte', ['1']]\n",
       "some.ops:2:  is not a key of a kind: a word of lower-case letters"},
      {"[values]\nbytE = ['byte', ['1']]\n",
       "some.ops:2: bytE is not a key of a kind: a word of lower-case letters"},
      {"[values]\n_byte = ['byte', ['1']]\n",
       "some.ops:2: _byte is not a key of a kind: a word of lower-case letters"},
      {"[values]\n'?' = ['byte', ['1']]\n",
       "some.ops:2: ? is not a key of a kind: a word of lower-case letters"},
      {"[values]\nn = ['byte', ['1']]\n",
       "some.ops:2: the kind size has that key or prefix already"},
  };
  for (const auto& [text, words] : mistakes) {
    EXPECT_EQ(mistake(text).substr(0, std::string_view(words).size()), words) << text;
  }
  EXPECT_EQ(mistake("[storage]\none = ['', 'f()', '', '']\n"), "no mistake");
}

TEST(TableTest, a_folder_without_a_table_is_named) {
  EXPECT_THROW(read_table("docs/nowhere"), TableError);
}

}  // namespace
}  // namespace slotfuzz
