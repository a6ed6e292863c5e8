// Which lines a hunt expects to raise. A line usually raises because of the object in its variable,
// and the op that bound the variable predicts that. On PyTorch 1.13.1 no tensor can own a storage
// of a subclass, and half of all time went into such errors.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "harness/engine/language/program.h"

namespace slotfuzz {

// For each variable, the op that bound it last.
using Makers = std::array<std::uint16_t, kVariableMax>;
// The lines of a program that raised, by bit.
using LineSet = std::bitset<kLineMax>;

class Raises {
 public:
  explicit Raises(const OpTable& table);

  // Records that the program ran and that these of its lines raised.
  void note(const Program& program, const LineSet& raised);
  // Whether lines of `op` nearly always raise when the op `maker` bound this operand.
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
