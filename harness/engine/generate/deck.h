// Lines that a search tries early, each once: a draw with replacement would repeat some of them
// many times before it meets the last.
#pragma once

#include <vector>

#include "harness/engine/generate/vocabulary.h"

namespace slotfuzz {

// A row of more values than this has this many cards, whose operands are drawn.
inline constexpr std::size_t kCardsMax = 64;

// One card for each value of each row that checks and takes no variables, so that its line is a
// program of its own. The deck is dealt in rounds: in each, one card of each row that has cards.
class Deck {
 public:
  // Only rows that the vocabulary draws.
  Deck(const OpTable& table, const Vocabulary& vocabulary);
  // The line of a random card of this round, which leaves the deck; nothing if no card is left.
  std::optional<Line> deal(Rng& rng);

 private:
  struct Row {
    std::uint16_t op;
    // How many values the row has: the product of those of its operands.
    std::size_t values;
    // The values of its cards.
    std::vector<std::size_t> cards;
  };

  const OpTable& table_;
  std::vector<Row> rows_;
  // Those of the rows that this round has not come to.
  std::vector<std::size_t> round_;
};

}  // namespace slotfuzz
