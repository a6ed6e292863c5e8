// Counts in bytes, and halves them when they are full, so that newer runs weigh more.
#include "harness/engine/language/raises.h"

#include <limits>

namespace slotfuzz {
namespace {

// With fewer runs, no raise is expected.
constexpr unsigned kRanMin = 8;
// A raise is expected if all but one in this many lines raised.
constexpr unsigned kRaisedOf = 8;

}  // namespace

Raises::Raises(const OpTable& table)
    : table_(table), counts_(table.ops().size() * table.ops().size() * kOperandMax) {}

void Raises::note(const Program& program, const LineSet& raised) {
  VariableSet bound = 0;
  Makers makers{};
  for (std::size_t at = 0; at < program.lines.size(); ++at) {
    const Line& line = program.lines[at];
    const Op& op = table_.ops()[line.op];
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const Operand& operand = op.operands[i];
      if (operand.binds() || !table_.is_variable(operand)) continue;
      const std::uint8_t variable = line.operands[i];
      // A line that reads an unbound name says nothing about the op that bound it earlier.
      if (!(bound >> variable & 1)) continue;
      Count& count = counts_[index(line.op, i, makers[variable])];
      if (count.ran == std::numeric_limits<std::uint8_t>::max()) {
        count = {static_cast<std::uint8_t>(count.ran / 2),
                 static_cast<std::uint8_t>(count.raised / 2)};
      }
      ++count.ran;
      count.raised += raised[at];
    }
    if (raised[at]) continue;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const Operand& operand = op.operands[i];
      const VariableSet bit = VariableSet{1} << line.operands[i] % kVariableMax;
      if (operand.use == Use::kUnbind) bound &= ~bit;
      if (!operand.binds()) continue;
      bound |= bit;
      makers[line.operands[i]] = line.op;
    }
  }
}

bool Raises::is_expected(std::size_t op, std::size_t operand, std::uint16_t maker) const {
  const Count& count = counts_[index(op, operand, maker)];
  return count.ran >= kRanMin && (count.ran - count.raised) * kRaisedOf <= count.ran;
}

}  // namespace slotfuzz
