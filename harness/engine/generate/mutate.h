// Generates and mutates programs, line by line. Every result is well-formed: an earlier line binds
// each variable that a line reads, and no line in between unbinds it, as far as the rows can tell.
#pragma once

#include "harness/engine/generate/deck.h"
#include "harness/engine/language/raises.h"

namespace slotfuzz {

// One in this many fresh programs has any length, the others the greatest; docs/search.md compares
// lengths.
inline constexpr std::size_t kAnyLengthOneIn = 3;
// One in this many programs is a variant of programs of the corpus; the others are fresh. Variants
// of variants stay close to each other, and most of them repeat what is clean (docs/search.md).
inline constexpr std::size_t kVariantOneIn = 4;
// One in this many fresh programs has lines on other lanes, and one in this many of its descendants
// keeps them: a handover to a lane costs as much as about fifty lines.
inline constexpr std::size_t kLaneProgramOneIn = 32;
inline constexpr std::size_t kLanesKeptOneIn = 4;
// One in this many operands is drawn although its line will raise, since error paths differ.
inline constexpr std::size_t kRaisingOneIn = 16;

// One in this many fresh programs is a card, while there are cards.
inline constexpr std::size_t kCardOneIn = 2;

class Mutator {
 public:
  // Given RAISES, the mutator seldom draws lines that RAISES expects to raise. Given DECK, it deals
  // from it.
  Mutator(const OpTable& table, const Vocabulary& vocabulary, const Raises* raises = nullptr,
          Deck* deck = nullptr)
      : table_(table), vocabulary_(vocabulary), raises_(raises), deck_(deck) {}

  // A fresh program.
  Program generate(Rng& rng) const;
  // Usually a fresh program, always so for an empty one; or the program with one or a few changes:
  // insert (mostly near the end), splice, change an operand, remove, duplicate, swap, move to
  // another lane, move all lines to lane 0.
  Program mutate(Program program, Rng& rng) const;
  // Usually a fresh program; or a prefix of the first program and a suffix of the second.
  Program cross(const Program& first, const Program& second, Rng& rng) const;
  // Appends some lines to the program, outside hermetic mode, that mostly ask the subject for
  // wrappers: does a broken promise become a crash when the program goes on?
  Program extend(const Program& program, Rng& rng) const;
  // Repairs operands that read unbound variables, and drops lines that it cannot repair.
  Program fixup(const Program& program, Rng& rng) const;

 private:
  // The variables that are bound at some point of a program, and the ops that bound them.
  struct Scope {
    VariableSet bound = 0;
    Makers makers{};
  };
  void add(const Line& line, Scope& scope) const;

  // Draws a line that is well-formed in the scope; prefers `recent` variables.
  bool draw_line(const Scope& scope, VariableSet recent, const Vocabulary& swarm, Rng& rng,
                 Line& line) const;
  bool draw_operands(const Scope& scope, VariableSet recent, Rng& rng, Line& line) const;
  // Those choices for a read operand with which the line is not expected to raise.
  VariableSet without_raising(const Line& line, std::size_t operand, VariableSet choices,
                              const Makers& makers) const;
  // Usually first removes the slow lines that vocabulary.h calls seldom.
  void choose_seldom(Program& program, Rng& rng) const;
  void insert(Program& program, const Vocabulary& swarm, Rng& rng) const;
  void change(Program& program, const Vocabulary& swarm, Rng& rng) const;

  const OpTable& table_;
  const Vocabulary& vocabulary_;
  const Raises* const raises_;
  Deck* const deck_;
};

// The variables that are bound after `line`, given those bound before it.
VariableSet bound_after(const OpTable& table, const Line& line, VariableSet bound);

}  // namespace slotfuzz
