// Lines that a search tries early, each once: a draw with replacement would repeat some of them
// many times before it meets the last.
#pragma once

#include <vector>

#include "harness/engine/generate/vocabulary.h"
#include "harness/engine/process/shared_memory.h"

namespace slotfuzz {

// A row of more values than this has this many cards, whose operands are drawn.
inline constexpr std::size_t kCardsMax = 64;

// One card for each value of each row that checks and takes no variables, so that its line is a
// program of its own. The deck is dealt in rounds. In the first are all cards of rare rows with at
// most one operand, which are texts of many checks; in the second those of other such rows, since
// each value names a check of its own. From the second on, each has a card of each row that is
// left.
// A process forked from this one goes on where the deck stands, and the next one where it ended.
class Deck {
 public:
  // Only rows that the vocabulary draws.
  Deck(const OpTable& table, const Vocabulary& vocabulary);
  // The line of the next card; nothing if no card is left. The first call shuffles.
  std::optional<Line> deal(Rng& rng);

 private:
  struct Card {
    std::uint16_t op;
    std::size_t value;
  };
  // What the processes share.
  struct Dealt {
    // That of the order, or 0 before the first card.
    Rng::result_type seed;
    std::size_t cards;
  };
  void shuffle();

  const OpTable& table_;
  const SharedMemory memory_{sizeof(Dealt)};
  Dealt& dealt_ = *memory_.as<Dealt>();
  // By rows until shuffle().
  std::vector<Card> cards_;
  bool is_shuffled_ = false;
};

}  // namespace slotfuzz
