// The rounds of deck.h.
#include "harness/engine/generate/deck.h"

#include <algorithm>

namespace slotfuzz {
namespace {

// How many values a row has: the product of those of its operands.
std::size_t values_of(const OpTable& table, const Op& op) {
  std::size_t values = 1;
  for (const Operand& operand : op.operands) values *= table.kinds()[operand.kind].count;
  return values;
}

template <typename T>
void shuffle_all(std::vector<T>& items, Rng& rng) {
  for (std::size_t left = items.size(); left > 1; --left)
    std::swap(items[below(rng, left)], items[left - 1]);
}

}  // namespace

Deck::Deck(const OpTable& table, const Vocabulary& vocabulary) : table_(table) {
  for (std::size_t op = 0; op < table.ops().size(); ++op) {
    const auto& operands = table.ops()[op].operands;
    const bool reads = std::any_of(operands.begin(), operands.end(),
                                   [&](const Operand& one) { return table.is_variable(one); });
    if (reads || !table.ops()[op].has(Effect::kChecks) || vocabulary.weight(op) == 0) continue;
    const std::size_t cards = std::min(values_of(table, table.ops()[op]), kCardsMax);
    for (std::size_t value = 0; value < cards; ++value)
      cards_.push_back({static_cast<std::uint16_t>(op), value});
  }
}

void Deck::shuffle() {
  Rng rng(dealt_.seed);
  shuffle_all(cards_, rng);
  std::vector<std::size_t> seen(table_.ops().size());
  std::vector<std::vector<Card>> rounds(1 + kCardsMax);
  for (const Card& card : cards_) {
    const Op& op = table_.ops()[card.op];
    const bool is_alone = op.operands.size() <= 1;
    const std::size_t round = !is_alone ? 1 + seen[card.op]++ : op.is_rare() ? 0 : 1;
    rounds[round].push_back(card);
  }
  cards_.clear();
  for (auto& round : rounds) {
    shuffle_all(round, rng);
    cards_.insert(cards_.end(), round.begin(), round.end());
  }
  is_shuffled_ = true;
}

std::optional<Line> Deck::deal(Rng& rng) {
  if (dealt_.cards == cards_.size()) return std::nullopt;
  if (dealt_.seed == 0) dealt_.seed = rng();
  if (!is_shuffled_) shuffle();
  auto [op, value] = cards_[dealt_.cards++];
  Line line{op, {}};
  const auto& operands = table_.ops()[op].operands;
  const bool draws = values_of(table_, table_.ops()[op]) > kCardsMax;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::size_t count = table_.kinds()[operands[i].kind].count;
    line.operands[i] = static_cast<std::uint8_t>(draws ? below(rng, count) : value % count);
    value /= count;
  }
  return line;
}

}  // namespace slotfuzz
