// Which ops a run draws, and how often.
#pragma once

#include <vector>

#include "harness/engine/generate/draw.h"
#include "harness/engine/language/program.h"

namespace slotfuzz {

// A theme of threads or interpreters is rare if its weight is below the weight of storages divided
// by this. One in this many mutations keeps the slow lines of a rare theme, and slow lines that are
// rare themselves: coverage feedback would otherwise fill the corpus with them.
inline constexpr unsigned kSeldom = 8;

// Swarm testing (Groce et al., ISSTA 2012): most runs leave out a random part of the vocabulary and
// weight the rest, so that common lines do not drown rare combinations.
class Vocabulary {
 public:
  // All ops that `available` allows, with the weights of their rows and themes.
  Vocabulary(const OpTable& table, const std::vector<bool>& available, const Weights& weights);
  // A random subset of these ops with random weights; one draw in four keeps all.
  Vocabulary swarm(Rng& rng) const;

  // Only those of these ops that ask the subject for a wrapper.
  Vocabulary asking(const OpTable& table) const;

  unsigned weight(std::size_t op) const { return weights_[op]; }
  bool is_seldom(std::size_t op) const { return seldom_[op]; }
  bool empty() const;

 private:
  std::vector<unsigned> weights_;
  std::vector<bool> seldom_;
};

}  // namespace slotfuzz
