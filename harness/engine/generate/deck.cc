// The rounds of deck.h.
#include "harness/engine/generate/deck.h"

#include <algorithm>
#include <numeric>

namespace slotfuzz {
namespace {

// Removes a random element.
std::size_t take(std::vector<std::size_t>& from, Rng& rng) {
  std::swap(from[below(rng, from.size())], from.back());
  const std::size_t taken = from.back();
  from.pop_back();
  return taken;
}

}  // namespace

Deck::Deck(const OpTable& table, const Vocabulary& vocabulary) : table_(table) {
  for (std::size_t op = 0; op < table.ops().size(); ++op) {
    const auto& operands = table.ops()[op].operands;
    const bool reads = std::any_of(operands.begin(), operands.end(),
                                   [&](const Operand& one) { return table.is_variable(one); });
    if (reads || !table.ops()[op].has(Effect::kChecks) || vocabulary.weight(op) == 0) continue;
    Row row{static_cast<std::uint16_t>(op), 1, {}};
    for (const Operand& operand : operands) row.values *= table.kinds()[operand.kind].count;
    row.cards.resize(std::min(row.values, kCardsMax));
    std::iota(row.cards.begin(), row.cards.end(), 0);
    rows_.push_back(std::move(row));
  }
}

std::optional<Line> Deck::deal(Rng& rng) {
  if (round_.empty()) {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (!rows_[row].cards.empty()) round_.push_back(row);
    }
    if (round_.empty()) return std::nullopt;
  }
  Row& row = rows_[take(round_, rng)];
  std::size_t value = take(row.cards, rng);
  Line line{row.op, {}};
  const auto& operands = table_.ops()[row.op].operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::size_t count = table_.kinds()[operands[i].kind].count;
    const std::size_t operand = row.values > kCardsMax ? below(rng, count) : value % count;
    line.operands[i] = static_cast<std::uint8_t>(operand);
    value /= count;
  }
  return line;
}

}  // namespace slotfuzz
