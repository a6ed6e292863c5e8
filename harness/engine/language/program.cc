// The op table, parsed, and the printer that derives from its rows; program_parse.cc parses lines.
#include "harness/engine/language/program.h"

#include <algorithm>
#include <set>

#include "harness/engine/language/table_rows.h"

namespace slotfuzz {
namespace {

constexpr std::string_view kThemeWords[] = {"storage",     "tensor",   "thread",
                                            "interpreter", "autograd", "meta"};
static_assert(std::size(kThemeWords) == kThemes);
constexpr std::string_view kTierWords[] = {"public", "underscore", "odd"};

bool makes_from_values(const Op& op, const std::vector<Kind>& kinds) {
  return !op.operands.empty() && op.operands[0].use == Use::kMake &&
         std::all_of(op.operands.begin() + 1, op.operands.end(), [&](const Operand& operand) {
           return operand.kind >= 0 && !kinds[operand.kind].is_variable();
         });
}

}  // namespace

std::string_view word_of(Theme theme) { return kThemeWords[static_cast<std::size_t>(theme)]; }

std::optional<Theme> theme_named(std::string_view word) {
  for (std::size_t i = 0; i < kThemes; ++i) {
    if (word_of(static_cast<Theme>(i)) == word) return static_cast<Theme>(i);
  }
  return std::nullopt;
}

std::string_view word_of(Tier tier) { return kTierWords[static_cast<std::size_t>(tier)]; }

bool has_lanes(const Program& program) {
  return std::any_of(program.lines.begin(), program.lines.end(),
                     [](const Line& line) { return line.lane != 0; });
}

OpTable::OpTable(const std::vector<TableFile>& files) {
  TableRows rows = rows_of(files);
  kinds_ = std::move(rows.kinds);
  ops_ = std::move(rows.ops);
  for (const Kind& kind : kinds_) {
    for (int number = 0; kind.is_variable() && number < kind.count; ++number) {
      variable_names_.push_back(kind.prefix + std::to_string(number));
    }
  }
  std::set<int> made;
  tree_.emplace_back();
  for (std::size_t op = 0; op < ops_.size(); ++op) {
    ops_[op].plain = makes_from_values(ops_[op], kinds_) &&
                     made.insert(ops_[op].operands[0].kind).second;
    grow(op);
  }
}

std::optional<std::uint16_t> OpTable::find_op(std::string_view name) const {
  for (std::size_t op = 0; op < ops_.size(); ++op) {
    if (ops_[op].name == name) return static_cast<std::uint16_t>(op);
  }
  return std::nullopt;
}

std::optional<std::uint16_t> OpTable::find_op(Effect effect) const {
  const auto found = std::find_if(ops_.begin(), ops_.end(), [&](const Op& op) {
    return op.has(effect);
  });
  if (found == ops_.end()) return std::nullopt;
  return static_cast<std::uint16_t>(found - ops_.begin());
}

bool OpTable::has(const Line& line, Effect effect) const {
  const Op& op = ops_[line.op];
  if (op.has(effect)) return true;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    if (is_variable(op.operands[i])) continue;
    if (kinds_[op.operands[i].kind].effects[line.operands[i]].has(effect)) return true;
  }
  return false;
}

std::optional<int> OpTable::find_variable(std::string_view name) const {
  const auto found = std::find(variable_names_.begin(), variable_names_.end(), name);
  if (found == variable_names_.end()) return std::nullopt;
  return static_cast<int>(found - variable_names_.begin());
}

std::optional<int> OpTable::find_kind(std::string_view key) const {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                  [&](const Kind& kind) { return kind.key == key; });
  if (found == kinds_.end()) return std::nullopt;
  return static_cast<int>(found - kinds_.begin());
}

std::string OpTable::print_operand(const Op& op, std::size_t index, std::uint8_t value) const {
  const Operand& operand = op.operands[index];
  const bool variable = operand.kind < 0 || kinds_[operand.kind].is_variable();
  return variable ? variable_names_[value] : kinds_[operand.kind].values[value];
}

std::string OpTable::print(const Line& line) const {
  if (line.lane == 0) return print_bare(line);
  std::string text(kLanePattern);
  text.replace(text.find("{1}"), 3, print_bare(line));
  return text.replace(text.find("{0}"), 3, std::to_string(line.lane));
}

std::string OpTable::print_bare(const Line& line) const {
  const Op& op = ops_[line.op];
  std::string text;
  for (std::size_t at = 0; at < op.pattern.size(); ++at) {
    if (op.pattern[at] != '{') {
      text += op.pattern[at];
      continue;
    }
    const std::size_t index = op.pattern[at + 1] - '0';
    text += print_operand(op, index, line.operands[index]);
    at += 2;
  }
  return text;
}

const std::string& Printer::print(const Line& line) {
  const auto [entry, is_new] = texts_.try_emplace(key_of(line));
  if (is_new) entry->second = table_.print(line);
  return entry->second;
}

void Printer::forget() {
  if (std::max(lines_.size(), texts_.size()) <= kLinesKept) return;
  lines_.clear();
  texts_.clear();
}

std::string Printer::print(const Program& program) {
  forget();
  std::string text;
  text.reserve(program.lines.size() * 32);
  for (const Line& line : program.lines) {
    text += print(line);
    text += '\n';
  }
  return text;
}

}  // namespace slotfuzz
