// The op table as values, and the printer that derives from its rows; program_parse.cc parses.
#include "harness/engine/language/program.h"

#include <algorithm>
#include <set>

#include "harness/engine/check.h"

namespace slotfuzz {
namespace {

struct Row {
  unsigned weight;
  Theme theme;
  bool slow;
  std::string_view name, operands, pattern, needs, sentence;
  std::string_view words = {};
};

constexpr Row kRows[] = {
#define OP(name, ...) {kWeight, Theme::kStorage, false, #name, __VA_ARGS__},
#define RARE(name, ...) {kWeightRare, Theme::kStorage, false, #name, __VA_ARGS__},
#define TENSOR(name, ...) {kWeight, Theme::kTensor, false, #name, __VA_ARGS__},
#define RARE_TENSOR(name, ...) {kWeightRare, Theme::kTensor, false, #name, __VA_ARGS__},
#define THREAD(name, ...) {kWeight, Theme::kThread, true, #name, __VA_ARGS__},
#define SLOW(name, ...) {kWeight, Theme::kInterpreter, true, #name, __VA_ARGS__},
#include "harness/engine/language/ops.def"
#undef OP
#undef RARE
#undef TENSOR
#undef RARE_TENSOR
#undef THREAD
#undef SLOW
};

Use use_of(char mark) {
  switch (mark) {
    case '-': return Use::kUnbind;
    case '=': return Use::kBind;
    case '*': return Use::kAsk;
    case '+': return Use::kMake;
  }
  return Use::kRead;
}

std::vector<Operand> make_operands(std::string_view words, const std::vector<Kind>& kinds) {
  std::vector<Operand> operands;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at] == ' ') continue;
    const Use use = use_of(words[at]);
    if (use != Use::kRead) ++at;
    const char letter = words[at];
    const auto kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.letter == letter; });
    CHECK(kind != kinds.end() || letter == kAnyVariable, "ops.def: unknown kind in " << words);
    const int index = kind == kinds.end() ? -1 : static_cast<int>(kind - kinds.begin());
    operands.push_back({use, letter, index});
  }
  CHECK(operands.size() <= kOperandMax, "ops.def: too many operands: " << words);
  return operands;
}

constexpr std::string_view kThemes[] = {"storage", "tensor", "thread", "interpreter"};
constexpr std::string_view kTiers[] = {"public", "underscore", "odd"};
constexpr std::string_view kSetsAttribute = "sets_attribute=";
constexpr std::string_view kOfStorage = "storage.";

void take_word(std::string_view word, Op& op) {
  if (word.starts_with(kSetsAttribute)) {
    op.effects.add(Effect::kSetsAttribute);
    op.attribute = word.substr(kSetsAttribute.size());
    op.attribute_of_storage = op.attribute.starts_with(kOfStorage);
    if (op.attribute_of_storage) op.attribute.remove_prefix(kOfStorage.size());
    return;
  }
  if (word == word_of(Tier::kUnderscore)) {
    op.tier = Tier::kUnderscore;
  } else if (word == word_of(Tier::kOdd)) {
    op.tier = Tier::kOdd;
  } else {
    const auto effect = effect_named(word);
    CHECK(effect, "ops.def: " << op.name << ": unknown word " << word);
    op.effects.add(*effect);
  }
}

void take_words(std::string_view words, Op& op) {
  while (!words.empty()) {
    const auto end = std::min(words.find(' '), words.size());
    take_word(words.substr(0, end), op);
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

bool makes_from_values(const Op& op, const std::vector<Kind>& kinds) {
  return !op.operands.empty() && op.operands[0].use == Use::kMake &&
         std::all_of(op.operands.begin() + 1, op.operands.end(), [&](const Operand& operand) {
           return operand.kind >= 0 && !kinds[operand.kind].is_variable();
         });
}

}  // namespace

std::string_view word_of(Theme theme) { return kThemes[static_cast<std::size_t>(theme)]; }
std::string_view word_of(Tier tier) { return kTiers[static_cast<std::size_t>(tier)]; }

bool has_lanes(const Program& program) {
  return std::any_of(program.lines.begin(), program.lines.end(),
                     [](const Line& line) { return line.lane != 0; });
}

OpTable::OpTable() : kinds_(make_kinds()) {
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    for (int number = 0; kinds_[kind].is_variable() && number < kinds_[kind].count; ++number) {
      variable_names_.push_back(std::string(kinds_[kind].prefix) + std::to_string(number));
      kind_of_variable_.push_back(static_cast<int>(kind));
    }
  }
  CHECK(variable_names_.size() <= kVariableMax, "kinds.h: too many variables");
  std::set<int> made;
  tree_.emplace_back();
  for (const Row& row : kRows) {
    Op op;
    op.name = row.name;
    op.operands = make_operands(row.operands, kinds_);
    op.pattern = row.pattern;
    op.needs = row.needs;
    op.sentence = row.sentence;
    op.weight = row.weight;
    op.theme = row.theme;
    op.slow = row.slow;
    take_words(row.words, op);
    op.plain = makes_from_values(op, kinds_) && made.insert(op.operands[0].kind).second;
    ops_.push_back(std::move(op));
    grow(ops_.size() - 1);
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

std::optional<int> OpTable::find_variable(std::string_view name) const {
  const auto found = std::find(variable_names_.begin(), variable_names_.end(), name);
  if (found == variable_names_.end()) return std::nullopt;
  return static_cast<int>(found - variable_names_.begin());
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

std::string Printer::print(const Program& program) {
  std::string text;
  text.reserve(program.lines.size() * 32);
  for (const Line& line : program.lines) {
    text += print(line);
    text += '\n';
  }
  return text;
}

}  // namespace slotfuzz
