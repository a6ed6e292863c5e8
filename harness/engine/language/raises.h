// Which lines raise, as far as a hunt has seen: a line of one op mostly raises because of what its
// variable is bound to, and that is known by the op that bound it. On PyTorch 1.13.1 no tensor can
// own a storage of a subclass, and half of all time went into such errors.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "harness/engine/language/program.h"

namespace slotfuzz {

// Of each variable, the op that bound it last.
using Makers = std::array<std::uint16_t, kVariableMax>;
// The lines of a program that raised, by bit.
using LineSet = std::bitset<kLineMax>;

class Raises {
 public:
  explicit Raises(const OpTable& table);

  // A program has run, and those lines of it raised.
  void note(const Program& program, const LineSet& raised);
  // Whether lines of an op nearly always raise when an operand was bound by an op.
  bool is_expected(std::size_t op, std::size_t operand, std::uint16_t maker) const;

 private:
  struct Count {
    std::uint8_t ran = 0, raised = 0;
  };

  std::size_t index(std::size_t op, std::size_t operand, std::uint16_t maker) const {
    return (op * kOperandMax + operand) * table_.ops().size() + maker;
  }

  const OpTable& table_;
  std::vector<Count> counts_;
};

}  // namespace slotfuzz
