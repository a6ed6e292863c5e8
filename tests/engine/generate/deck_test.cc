// A deck deals each line that is a program of its own once.
#include "harness/engine/generate/deck.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "harness/engine/generate/mutate.h"

namespace slotfuzz {
namespace {

class DeckTest : public ::testing::Test {
 protected:
  std::vector<bool> all() const { return std::vector<bool>(table_.ops().size(), true); }
  std::size_t values(const Op& op) const {
    std::size_t product = 1;
    for (const Operand& operand : op.operands) product *= table_.kinds()[operand.kind].count;
    return product;
  }
  // Whether each value of a row is a card.
  bool is_dealt(const Op& op) const {
    if (!op.has(Effect::kChecks)) return false;
    for (const Operand& operand : op.operands) {
      if (table_.is_variable(operand)) return false;
    }
    return true;
  }

  OpTable table_;
  const Weights weights_{
      .storage = 1, .tensor = 1, .thread = 1, .interpreter = 1, .autograd = 1, .meta = 1};
};

TEST_F(DeckTest, each_value_of_a_row_is_dealt_once_in_an_order_that_the_seed_chooses) {
  const Vocabulary vocabulary(table_, all(), weights_);
  std::vector<Line> first;
  for (unsigned seed = 1; seed <= 2; ++seed) {
    Deck deck(table_, vocabulary);
    Rng rng(seed);
    std::vector<Line> dealt;
    while (const auto line = deck.deal(rng)) dealt.push_back(*line);
    EXPECT_FALSE(deck.deal(rng));
    EXPECT_NE(dealt, first);
    first = dealt;
  }
  // First all values of rare rows with at most one operand, then those of the others, mixed with
  // one value of each row with more operands.
  const auto is_text = [&](const Line& line) {
    const Op& op = table_.ops()[line.op];
    return op.is_rare() && op.operands.size() <= 1;
  };
  EXPECT_TRUE(is_text(first.front()));
  EXPECT_TRUE(std::is_partitioned(first.begin(), first.end(), is_text));
  std::set<std::size_t> round, several;
  std::size_t alone = 0;
  for (const Line& line : first) {
    const bool is_alone = table_.ops()[line.op].operands.size() <= 1;
    if (!is_alone && !several.insert(line.op).second) break;
    round.insert(line.op);
    alone += is_alone;
  }
  std::size_t alone_of_all = 0;
  for (const Op& op : table_.ops()) {
    if (is_dealt(op) && op.operands.size() <= 1) alone_of_all += std::min(values(op), kCardsMax);
  }
  EXPECT_EQ(alone, alone_of_all);
  std::map<std::size_t, std::multiset<Line>> by_row;
  for (const Line& line : first) by_row[line.op].insert(line);
  EXPECT_EQ(round.size(), by_row.size());
  for (std::size_t row = 0; row < table_.ops().size(); ++row) {
    const Op& op = table_.ops()[row];
    if (!is_dealt(op)) {
      EXPECT_FALSE(by_row.contains(row)) << op.name;
      continue;
    }
    EXPECT_EQ(by_row[row].size(), std::min(values(op), kCardsMax)) << op.name;
    if (values(op) > kCardsMax) continue;
    for (const Line& line : by_row[row]) EXPECT_EQ(by_row[row].count(line), 1u) << op.name;
  }
}

TEST_F(DeckTest, a_process_goes_on_where_one_with_another_seed_ended) {
  const Vocabulary vocabulary(table_, all(), weights_);
  Deck whole(table_, vocabulary);
  Deck deck(table_, vocabulary);
  constexpr std::size_t kDealt = 100;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Rng rng(1);
    for (std::size_t i = 0; i < kDealt; ++i) deck.deal(rng);
    std::_Exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  Rng rng(1), other(2);
  for (std::size_t i = 0; i < kDealt; ++i) ASSERT_TRUE(whole.deal(rng));
  while (const auto expected = whole.deal(rng)) {
    const auto line = deck.deal(other);
    ASSERT_TRUE(line);
    EXPECT_EQ(line->op, expected->op);
    if (values(table_.ops()[line->op]) <= kCardsMax) {
      EXPECT_EQ(*line, *expected);
    }
  }
  EXPECT_FALSE(deck.deal(other));
}

TEST_F(DeckTest, a_row_that_is_not_drawn_has_no_card) {
  std::vector<bool> one(table_.ops().size());
  const auto checks = std::find_if(table_.ops().begin(), table_.ops().end(),
                                   [&](const Op& op) { return is_dealt(op) && values(op) == 1; });
  ASSERT_NE(checks, table_.ops().end());
  one[static_cast<std::size_t>(checks - table_.ops().begin())] = true;
  Deck deck(table_, Vocabulary(table_, one, weights_));
  Rng rng(1);
  ASSERT_TRUE(deck.deal(rng));
  EXPECT_FALSE(deck.deal(rng));
}

TEST_F(DeckTest, a_mutator_deals_until_no_card_is_left) {
  const Vocabulary vocabulary(table_, all(), weights_);
  Deck deck(table_, vocabulary);
  const Mutator mutator(table_, vocabulary, nullptr, &deck);
  Rng rng(1);
  std::set<std::size_t> alone;
  for (int round = 0; round < 50000; ++round) {
    const Program program = mutator.generate(rng);
    if (program.lines.size() == 1) alone.insert(program.lines[0].op);
  }
  EXPECT_FALSE(deck.deal(rng));
  for (std::size_t row = 0; row < table_.ops().size(); ++row) {
    EXPECT_TRUE(!is_dealt(table_.ops()[row]) || alone.contains(row)) << table_.ops()[row].name;
  }
}

}  // namespace
}  // namespace slotfuzz
