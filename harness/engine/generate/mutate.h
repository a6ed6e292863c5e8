// Generation and mutation of programs, on lines. Every result is well-formed: each variable that a
// line reads is bound by an earlier line and not unbound since, as far as the rows can tell.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "harness/engine/language/raises.h"

namespace slotfuzz {

using Rng = std::minstd_rand;

// The usual length of a fresh program.
inline constexpr std::size_t kLineTypical = 20;
// One fresh program in so many has lines on other lanes, and one in so many of those that are made
// from such a one keeps them: to hand a line over costs as much as to run it some fifty times.
inline constexpr std::size_t kLaneProgramOneIn = 32;
inline constexpr std::size_t kLanesKeptOneIn = 4;
// Where what starts threads or interpreters has less than this part of the weight of storages, one
// mutation in so many keeps it: coverage makes such programs the most of a corpus.
inline constexpr unsigned kSeldom = 8;
// One operand in so many is drawn though its line will raise: errors have paths of their own.
inline constexpr std::size_t kRaisingOneIn = 16;

// Swarm testing (Groce et al., ISSTA 2012): most runs leave out a random part of the vocabulary and
// weight the rest, so that rare combinations are not drowned by common lines.
class Vocabulary {
 public:
  // All ops that `available` allows, with the weights of their rows and themes.
  Vocabulary(const OpTable& table, const std::vector<bool>& available, const Weights& weights);
  // A random subset of them with random weights; one draw in four keeps all.
  Vocabulary swarm(Rng& rng) const;

  // Of these, only the ops that ask the subject for a wrapper.
  Vocabulary asking(const OpTable& table) const;

  unsigned weight(std::size_t op) const { return weights_[op]; }
  bool is_seldom(std::size_t op) const { return seldom_[op]; }
  bool empty() const;

 private:
  std::vector<unsigned> weights_;
  std::vector<bool> seldom_;
};

class Mutator {
 public:
  // With RAISES, lines that it expects to raise are seldom drawn.
  Mutator(const OpTable& table, const Vocabulary& vocabulary, const Raises* raises = nullptr)
      : table_(table), vocabulary_(vocabulary), raises_(raises) {}

  Program generate(Rng& rng) const;
  // One or a few changes: insert (mostly near the end), splice, change an operand, remove,
  // duplicate, swap, move to another lane; now and then a fresh program, or all on lane 0. An empty
  // program is answered by a fresh one.
  Program mutate(Program program, Rng& rng) const;
  // A prefix of one program and a suffix of the other.
  Program cross(const Program& first, const Program& second, Rng& rng) const;
  // The program with some lines behind it, outside hermetic mode, that mostly ask the subject for
  // wrappers: does a broken promise become a crash when the program goes on?
  Program extend(const Program& program, Rng& rng) const;
  // Repairs operands that read what is not bound, and drops lines that cannot be repaired.
  Program fixup(const Program& program, Rng& rng) const;

 private:
  // What is bound at some point of a program, and by which ops.
  struct Scope {
    VariableSet bound = 0;
    Makers makers{};
  };
  void add(const Line& line, Scope& scope) const;

  // Draws a line that is well-formed in the scope; prefers `recent` variables.
  bool draw_line(const Scope& scope, VariableSet recent, const Vocabulary& swarm, Rng& rng,
                 Line& line) const;
  bool draw_operands(const Scope& scope, VariableSet recent, Rng& rng, Line& line) const;
  // Of the choices for an operand that is read, those with which the line is not expected to raise.
  VariableSet without_raising(const Line& line, std::size_t operand, VariableSet choices,
                              const Makers& makers) const;
  // Most often takes out what is seldom drawn, to begin with.
  void choose_seldom(Program& program, Rng& rng) const;
  void insert(Program& program, const Vocabulary& swarm, Rng& rng) const;
  void change(Program& program, const Vocabulary& swarm, Rng& rng) const;

  const OpTable& table_;
  const Vocabulary& vocabulary_;
  const Raises* const raises_;
};

// The variables that are bound after `line`, when `bound` were before.
VariableSet bound_after(const OpTable& table, const Line& line, VariableSet bound);

}  // namespace slotfuzz
