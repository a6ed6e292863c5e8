// The generator and the mutations of mutate.h.
#include "harness/engine/generate/mutate.h"

#include <algorithm>
#include <bit>

namespace slotfuzz {
namespace {

int nth_bit(VariableSet set, std::size_t n) {
  while (n-- > 0) set &= set - 1;
  return std::countr_zero(set);
}

VariableSet variables_of(const OpTable& table, const Operand& operand) {
  if (operand.kind < 0) return ~VariableSet{0} >> (kVariableMax - table.variable_count());
  const Kind& kind = table.kinds()[operand.kind];
  return ((VariableSet{1} << kind.count) - 1) << kind.first_variable;
}

// A line usually runs on the lane of the line before it, and most lines run on the main thread.
std::uint8_t next_lane(std::uint8_t lane, Rng& rng) {
  if (!one_in(rng, lane == 0 ? 6 : 2)) return lane;
  return static_cast<std::uint8_t>(below(rng, kLaneCount));
}

// Moves some consecutive lines to one lane.
void move_to_lane(Program& program, std::size_t at, Rng& rng) {
  const auto lane = static_cast<std::uint8_t>(below(rng, kLaneCount));
  const std::size_t end = std::min(at + 1 + below(rng, 4), program.lines.size());
  for (; at < end; ++at) program.lines[at].lane = lane;
}

// Most programs use no lanes: lanes make a program an order of magnitude slower.
void choose_lanes(Program& program, Rng& rng) {
  if (has_lanes(program)) {
    if (one_in(rng, kLanesKeptOneIn)) return;
    for (Line& line : program.lines) line.lane = 0;
  } else if (!program.lines.empty() && one_in(rng, kLaneProgramOneIn)) {
    move_to_lane(program, below(rng, program.lines.size()), rng);
  }
}

// The most lines that an extension adds.
constexpr std::size_t kExtensionMax = 4;

// A position for a new line. Programs grow at the end, so half of the draws are in the last fifth.
std::size_t biased_position(std::size_t size, Rng& rng) {
  const std::size_t from = one_in(rng, 2) ? 0 : size - size / 5;
  return from + below(rng, size - from + 1);
}

}  // namespace

VariableSet bound_after(const OpTable& table, const Line& line, VariableSet bound) {
  const Op& op = table.ops()[line.op];
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const VariableSet bit = VariableSet{1} << (line.operands[i] % kVariableMax);
    if (op.operands[i].binds()) bound |= bit;
    if (op.operands[i].use == Use::kUnbind) bound &= ~bit;
  }
  return bound;
}

void Mutator::add(const Line& line, Scope& scope) const {
  const Op& op = table_.ops()[line.op];
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    if (op.operands[i].binds()) scope.makers[line.operands[i]] = line.op;
  }
  scope.bound = bound_after(table_, line, scope.bound);
}

VariableSet Mutator::without_raising(const Line& line, std::size_t operand, VariableSet choices,
                                     const Makers& makers) const {
  VariableSet kept = 0;
  for (VariableSet left = choices; left; left &= left - 1) {
    const int variable = std::countr_zero(left);
    if (!raises_->is_expected(line.op, operand, makers[variable])) kept |= left & -left;
  }
  return kept;
}

bool Mutator::draw_operands(const Scope& scope, VariableSet recent, Rng& rng, Line& line) const {
  const Op& op = table_.ops()[line.op];
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const Operand& operand = op.operands[i];
    if (!table_.is_variable(operand)) {
      line.operands[i] = static_cast<std::uint8_t>(below(rng, table_.kinds()[operand.kind].count));
      continue;
    }
    VariableSet choices = variables_of(table_, operand);
    if (operand.binds()) {
      // Prefers an unbound name, if there is one: overwriting a name decrefs as `del` does.
      if ((choices & ~scope.bound) && !one_in(rng, 4)) choices &= ~scope.bound;
    } else {
      choices &= scope.bound;
      if (raises_ && !one_in(rng, kRaisingOneIn)) {
        choices = without_raising(line, i, choices, scope.makers);
      }
      if (!choices) return false;
      if ((choices & recent) && !one_in(rng, 3)) choices &= recent;
    }
    line.operands[i] =
        static_cast<std::uint8_t>(nth_bit(choices, below(rng, std::popcount(choices))));
  }
  return true;
}

bool Mutator::draw_line(const Scope& scope, VariableSet recent, const Vocabulary& swarm, Rng& rng,
                        Line& line) const {
  unsigned total = 0;
  for (std::size_t op = 0; op < table_.ops().size(); ++op) total += swarm.weight(op);
  // Redraws an op whose operands are not bound yet, a bounded number of times.
  for (int attempt = 0; attempt < 8; ++attempt) {
    std::size_t ticket = below(rng, total);
    std::size_t op = 0;
    while (ticket >= swarm.weight(op)) ticket -= swarm.weight(op++);
    line = Line{static_cast<std::uint16_t>(op), {}, line.lane};
    if (draw_operands(scope, recent, rng, line)) return true;
  }
  return false;
}

Program Mutator::generate(Rng& rng) const {
  if (deck_ && one_in(rng, kCardOneIn)) {
    if (const auto line = deck_->deal(rng)) return {.lines = {*line}};
  }
  const Vocabulary swarm = vocabulary_.swarm(rng);
  Program program;
  const std::size_t length = one_in(rng, kAnyLengthOneIn) ? 1 + below(rng, kLineMax) : kLineMax;
  Scope scope;
  VariableSet recent = 0;
  const bool lanes = one_in(rng, kLaneProgramOneIn);
  const bool seldom = one_in(rng, kSeldom);
  Line line;
  for (std::size_t i = 0; i < length; ++i) {
    if (lanes) line.lane = next_lane(line.lane, rng);
    const Vocabulary& words = one_in(rng, 8) ? vocabulary_ : swarm;
    if (!draw_line(scope, recent, words, rng, line)) continue;
    if (!seldom && vocabulary_.is_seldom(line.op)) continue;
    program.lines.push_back(line);
    const VariableSet before = scope.bound;
    add(line, scope);
    const VariableSet fresh = scope.bound & ~before;
    recent = one_in(rng, 4) ? fresh : recent | fresh;
  }
  return program;
}

void Mutator::insert(Program& program, const Vocabulary& swarm, Rng& rng) const {
  const std::size_t at = biased_position(program.lines.size(), rng);
  Scope scope;
  VariableSet recent = 0;
  for (std::size_t i = 0; i < at; ++i) {
    const Line& line = program.lines[i];
    add(line, scope);
    if (i + 4 < at) continue;
    const Op& op = table_.ops()[line.op];
    for (std::size_t k = 0; k < op.operands.size(); ++k) {
      if (table_.is_variable(op.operands[k])) recent |= VariableSet{1} << line.operands[k];
    }
  }
  Line line;
  if (at > 0) line.lane = program.lines[at - 1].lane;
  if (draw_line(scope, recent & scope.bound, swarm, rng, line)) {
    program.lines.insert(program.lines.begin() + static_cast<std::ptrdiff_t>(at), line);
  }
}

Program Mutator::mutate(Program program, Rng& rng) const {
  if (program.lines.empty() || !one_in(rng, kVariantOneIn)) return generate(rng);
  const Vocabulary swarm = vocabulary_.swarm(rng);
  choose_lanes(program, rng);
  choose_seldom(program, rng);
  if (program.lines.empty()) return generate(rng);
  const std::size_t changes = 1 + below(rng, 3);
  for (std::size_t i = 0; i < changes && !program.lines.empty(); ++i) change(program, swarm, rng);
  return fixup(program, rng);
}

void Mutator::choose_seldom(Program& program, Rng& rng) const {
  if (one_in(rng, kSeldom)) return;
  std::erase_if(program.lines, [&](const Line& line) { return vocabulary_.is_seldom(line.op); });
}

void Mutator::change(Program& program, const Vocabulary& swarm, Rng& rng) const {
  auto& lines = program.lines;
  const auto iterator_at = [&](std::size_t i) {
    return lines.begin() + static_cast<std::ptrdiff_t>(i);
  };
  const std::size_t at = below(rng, lines.size());
  switch (below(rng, 10)) {
    case 0: lines.erase(iterator_at(at)); break;
    case 1: {
      const Line line = lines[at];
      lines.insert(iterator_at(biased_position(lines.size(), rng)), line);
      break;
    }
    case 2: std::swap(lines[at], lines[below(rng, lines.size())]); break;
    case 3:
    case 4: {
      Scope scope;
      for (std::size_t i = 0; i < at; ++i) add(lines[i], scope);
      Line line = lines[at];
      if (draw_operands(scope, 0, rng, line)) lines[at] = line;
      break;
    }
    case 5: {
      const std::size_t end = at + 1 + below(rng, std::min<std::size_t>(lines.size() - at, 4));
      const std::vector<Line> part(iterator_at(at), iterator_at(end));
      lines.insert(iterator_at(biased_position(lines.size(), rng)), part.begin(), part.end());
      break;
    }
    case 6:
      // Only if the program has lanes already: choose_lanes() decides which programs have them.
      if (has_lanes(program)) {
        move_to_lane(program, at, rng);
        break;
      }
      [[fallthrough]];
    default: insert(program, swarm, rng);
  }
}

Program Mutator::cross(const Program& first, const Program& second, Rng& rng) const {
  if (!one_in(rng, kVariantOneIn)) return generate(rng);
  Program program;
  const auto prefix = static_cast<std::ptrdiff_t>(below(rng, first.lines.size() + 1));
  const auto suffix = static_cast<std::ptrdiff_t>(below(rng, second.lines.size() + 1));
  program.lines.assign(first.lines.begin(), first.lines.begin() + prefix);
  program.lines.insert(program.lines.end(), second.lines.begin() + suffix, second.lines.end());
  choose_lanes(program, rng);
  choose_seldom(program, rng);
  return fixup(program, rng);
}

Program Mutator::extend(const Program& program, Rng& rng) const {
  Program longer = program;
  const auto leave = table_.find_op(Effect::kLeavesHermetic);
  if (leave && vocabulary_.weight(*leave)) {
    longer.lines.push_back({*leave, {}});
  }
  const Vocabulary asking = vocabulary_.asking(table_);
  Scope scope;
  for (const Line& line : longer.lines) add(line, scope);
  for (std::size_t more = 1 + below(rng, kExtensionMax); more > 0; --more) {
    Line line;
    if (!draw_line(scope, 0, one_in(rng, 4) ? vocabulary_ : asking, rng, line)) continue;
    longer.lines.push_back(line);
    add(line, scope);
  }
  return longer;
}

Program Mutator::fixup(const Program& program, Rng& rng) const {
  Program fixed;
  VariableSet bound = 0;
  for (Line line : program.lines) {
    if (fixed.lines.size() == kLineMax) break;
    const Op& op = table_.ops()[line.op];
    bool whole = true;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const Operand& operand = op.operands[i];
      if (!table_.is_variable(operand) || operand.binds()) continue;
      if (bound >> line.operands[i] & 1) continue;
      const VariableSet choices = variables_of(table_, operand) & bound;
      whole = whole && choices;
      if (!choices) break;
      line.operands[i] =
          static_cast<std::uint8_t>(nth_bit(choices, below(rng, std::popcount(choices))));
    }
    if (!whole || vocabulary_.weight(line.op) == 0) continue;
    fixed.lines.push_back(line);
    bound = bound_after(table_, line, bound);
  }
  return fixed;
}

}  // namespace slotfuzz
