// Parses the parts of a row; describes an error in a sentence, to which the caller adds the place.
#include "harness/engine/language/row_text.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace slotfuzz {
namespace {

constexpr std::string_view kOfStorage = "storage.";

std::optional<Use> use_of(std::string_view marks) {
  if (marks.empty()) return Use::kRead;
  if (marks == "-") return Use::kUnbind;
  if (marks == "=") return Use::kBind;
  if (marks == "*") return Use::kAsk;
  if (marks == "+") return Use::kMake;
  return std::nullopt;
}

// The number of marks before the key of an operand.
std::size_t marks_of(std::string_view word) {
  const auto key = std::find_if(word.begin(), word.end(), [](unsigned char one) {
    return std::isalnum(one) || one == kAnyVariable[0];
  });
  return key - word.begin();
}

std::string in_quotes(std::string_view text) { return "`" + std::string(text) + "`"; }

}  // namespace

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::vector<Operand> operands_of(std::string_view text, const std::vector<Kind>& kinds,
                                 std::string& wrong) {
  std::vector<Operand> operands;
  for (const std::string_view word : words_of(text)) {
    const std::size_t marks = marks_of(word);
    const auto use = use_of(word.substr(0, marks));
    const std::string_view key = word.substr(marks);
    const auto kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.key == key; });
    if (!use) wrong = in_quotes(word) + " has no mark of operands";
    if (kind == kinds.end() && key != kAnyVariable) {
      wrong = "no kind of operand has the key " + in_quotes(key);
    }
    if (!wrong.empty()) return operands;
    const int index = kind == kinds.end() ? -1 : static_cast<int>(kind - kinds.begin());
    operands.push_back({*use, index});
  }
  if (operands.size() > kOperandMax) wrong = "a row has five operands at most";
  return operands;
}

std::string mismatch(std::string_view pattern, const std::vector<Operand>& operands) {
  // A line on a lane is printed between double quotes.
  if (pattern.find_first_of("\"\\\n") != std::string_view::npos) {
    return "a template has no double quote, backslash or end of line";
  }
  std::vector<bool> named(operands.size());
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '{') continue;
    const bool is_operand = at + 2 < pattern.size() && std::isdigit(pattern[at + 1]) &&
                            pattern[at + 2] == '}';
    const std::size_t index = is_operand ? pattern[at + 1] - '0' : 0;
    if (!is_operand || index >= operands.size()) {
      return "the template has " + in_quotes(pattern.substr(at, 3)) + ", and the row " +
             std::to_string(operands.size()) + " operands";
    }
    named[index] = true;
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string name = "{" + std::to_string(i) + "}";
    const auto has = [&](const std::string& text) {
      return pattern.find(text) != std::string_view::npos;
    };
    if (!named[i]) return "the template has no " + in_quotes(name);
    if (operands[i].binds() && !has(name + " = ")) return in_quotes(name) + " is not bound";
    if (operands[i].use == Use::kUnbind && !has("del " + name)) {
      return in_quotes(name) + " is not unbound";
    }
  }
  return "";
}

std::pair<std::string, bool> attribute_of(std::string_view word) {
  word.remove_prefix(kSetsAttribute.size());
  const bool of_storage = word.starts_with(kOfStorage);
  if (of_storage) word.remove_prefix(kOfStorage.size());
  return {std::string(word), of_storage};
}

}  // namespace slotfuzz
