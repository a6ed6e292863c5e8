// Parses and validates the rows of table_rows.h.
#include "harness/engine/language/table_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <toml++/toml.h>

#include "harness/engine/language/row_text.h"

namespace slotfuzz {
namespace {

constexpr std::string_view kVariables = "variables", kValues = "values", kNames = "names";
// A line stores a variable's number or a value's index in a byte.
constexpr std::size_t kValuesMax = 256;
// The judge stores the attributes of a wrapper in this many bits.
constexpr std::size_t kAttributesMax = 32;

// One `key = [..]` of a section, and its line.
struct Entry {
  std::string section, key;
  std::string file, place;
  const toml::array* row;
};

[[noreturn]] void fail(const std::string& place, const std::string& sentence) {
  throw TableError(place + ": " + sentence);
}

std::string place_in(const std::string& file, const toml::source_region& region) {
  return file + ":" + std::to_string(region.begin.line);
}

toml::table parse(const TableFile& file) {
  try {
    return toml::parse(file.text);
  } catch (const toml::parse_error& error) {
    fail(place_in(file.name, error.source()), std::string(error.description()));
  }
}

// The entries of one file in the order of lines; a table of toml++ sorts its keys by name.
std::vector<Entry> entries_of(const TableFile& file, const toml::table& document) {
  std::vector<std::pair<toml::source_position, Entry>> found;
  for (const auto& [section, node] : document) {
    const auto* rows = node.as_table();
    if (!rows) fail(place_in(file.name, node.source()), "a row stands before the first section");
    for (const auto& [key, value] : *rows) {
      Entry entry{std::string(section), std::string(key), file.name,
                  place_in(file.name, value.source()), value.as_array()};
      if (!entry.row) fail(entry.place, entry.key + " is not a list");
      found.emplace_back(value.source().begin, std::move(entry));
    }
  }
  std::sort(found.begin(), found.end(),
            [](const auto& one, const auto& other) { return one.first < other.first; });
  std::vector<Entry> entries;
  for (auto& [position, entry] : found) entries.push_back(std::move(entry));
  return entries;
}

std::string text_at(const Entry& entry, std::size_t index, const char* what) {
  const toml::node* node = entry.row->get(index);
  const auto text = node ? node->value_exact<std::string>() : std::nullopt;
  if (!text) fail(entry.place, entry.key + " has no " + what + ", which is a text");
  return *text;
}

// Takes a word that declares a tier; all ops and values without such a word are public.
bool takes_tier(std::string_view word, const std::string& place, Tier& tier) {
  for (const Tier declared : {Tier::kUnderscore, Tier::kOdd}) {
    if (word != word_of(declared)) continue;
    if (tier != Tier::kPublic) fail(place, "two tiers are declared");
    tier = declared;
    return true;
  }
  return false;
}

// Adds the text of a value, or the list of its text and its words, to a kind.
void add_value(const toml::node& value, const std::string& place, Kind& kind) {
  const auto* pair = value.as_array();
  const auto part = [&](std::size_t index) {
    const toml::node* node = pair ? pair->get(index) : &value;
    return node ? node->value_exact<std::string>() : std::nullopt;
  };
  const auto text = part(0), words = pair ? part(1) : std::string();
  if (!text || !words || (pair && pair->size() != 2)) {
    fail(place, "a value is a text, or a list of a text and its words");
  }
  EffectSet effects;
  Tier tier = Tier::kPublic;
  for (const std::string_view word : words_of(*words)) {
    if (takes_tier(word, place, tier)) continue;
    const auto effect = effect_named(word);
    if (!effect) {
      fail(place, "no effect and no tier is called " + std::string(word) +
                      "; there are underscore odd " + effect_words());
    }
    effects.add(*effect);
  }
  kind.values.push_back(*text);
  kind.effects.push_back(effects);
  kind.tiers.push_back(tier);
}

bool is_key(std::string_view key) {
  const auto is_letter = [](char one) { return one >= 'a' && one <= 'z'; };
  return !key.empty() && is_letter(key[0]) && std::all_of(key.begin(), key.end(), [&](char one) {
    return is_letter(one) || one == '_';
  });
}

Kind kind_of(const Entry& entry, int first_variable) {
  Kind kind;
  if (!is_key(entry.key)) {
    fail(entry.place, entry.key + " is not a key of a kind: a word of lower-case letters");
  }
  kind.key = entry.key;
  kind.name = text_at(entry, 0, "name");
  if (entry.section == kVariables) {
    kind.prefix = text_at(entry, 1, "prefix");
    kind.count = static_cast<int>((*entry.row)[2].value_or(0));
    kind.first_variable = first_variable;
    if (kind.prefix.size() != 1 || kind.count < 1 || kind.count > 10) {
      fail(entry.place, "variables of a kind have a prefix of one letter and a count of 1 to 10");
    }
    return kind;
  }
  kind.has_names = entry.section == kNames;
  const auto* values = entry.row->get_as<toml::array>(1);
  if (!values || values->empty() || values->size() > kValuesMax) {
    fail(entry.place, "a kind of values has a list of 1 to 256 of them");
  }
  for (const toml::node& value : *values) {
    add_value(value, place_in(entry.file, value.source()), kind);
  }
  kind.count = static_cast<int>(kind.values.size());
  return kind;
}

void take_word(std::string_view word, const std::string& place, const std::vector<Kind>& kinds,
               Op& op) {
  if (word.starts_with(kSetsAttribute)) {
    op.effects.add(Effect::kSetsAttribute);
    std::tie(op.attribute, op.attribute_of_storage) = attribute_of(word);
  } else if (word.starts_with(kChecksKind)) {
    op.effects.add(Effect::kChecks);
    op.checks_kind = word.substr(kChecksKind.size());
    if (std::none_of(kinds.begin(), kinds.end(), [&](const Kind& kind) {
          return kind.is_variable() && kind.name == op.checks_kind;
        })) {
      fail(place, op.name + ": no kind of variables is called " + op.checks_kind);
    }
  } else if (word == "rare") {
    op.weight = kWeightRare;
  } else if (word == "slow") {
    op.slow = true;
  } else if (word == "certain") {
    op.certain = true;
  } else if (word == "timed") {
    op.timed = true;
  } else if (takes_tier(word, place, op.tier)) {
    return;
  } else if (const auto effect = effect_named(word); effect && *effect != Effect::kSetsAttribute) {
    op.effects.add(*effect);
  } else {
    fail(place, "no effect and no mark is called " + std::string(word) +
                    "; there are sets_attribute=NAME checks=KIND rare slow certain timed " +
                    "underscore odd " + effect_words());
  }
}

Op op_of(const Entry& entry, Theme theme, const std::vector<Kind>& kinds) {
  if (entry.row->size() != 4 && entry.row->size() != 5) {
    fail(entry.place, "a row is a list of operands, template, needs, sentence and perhaps words; " +
                          entry.key + " has " + std::to_string(entry.row->size()) + " parts");
  }
  Op op;
  op.name = entry.key;
  op.theme = theme;
  const std::string operands = text_at(entry, 0, "operands");
  op.pattern = text_at(entry, 1, "template");
  op.needs = text_at(entry, 2, "needs");
  op.sentence = text_at(entry, 3, "sentence");
  std::string wrong;
  op.operands = operands_of(operands, kinds, wrong);
  if (wrong.empty()) wrong = mismatch(op.pattern, op.operands);
  if (!wrong.empty()) fail(entry.place, entry.key + ": " + wrong);
  if (entry.row->size() == 5) {
    const std::string words = text_at(entry, 4, "words");
    for (const std::string_view word : words_of(words)) take_word(word, entry.place, kinds, op);
  }
  return op;
}

bool is_of_kinds(const Entry& entry) {
  return entry.section == kVariables || entry.section == kValues || entry.section == kNames;
}

std::vector<Kind> kinds_of(const std::vector<Entry>& entries) {
  std::vector<Kind> kinds;
  int variables = 0;
  for (const Entry& entry : entries) {
    if (!is_of_kinds(entry)) continue;
    kinds.push_back(kind_of(entry, variables));
    const Kind& made = kinds.back();
    for (const Kind& kind : std::span(kinds).first(kinds.size() - 1)) {
      if (kind.key != made.key && (!made.is_variable() || kind.prefix != made.prefix)) {
        continue;
      }
      fail(entry.place, "the kind " + kind.name + " has that key or prefix already");
    }
    if (made.is_variable()) variables += made.count;
    if (variables > kVariableMax) fail(entry.place, "there are more than 64 variables");
  }
  return kinds;
}

}  // namespace

TableRows rows_of(const std::vector<TableFile>& files) {
  std::vector<toml::table> documents;
  for (const TableFile& file : files) documents.push_back(parse(file));
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto more = entries_of(files[i], documents[i]);
    entries.insert(entries.end(), more.begin(), more.end());
  }
  TableRows rows;
  rows.kinds = kinds_of(entries);
  std::array<std::vector<Op>, kThemes> by_theme;
  std::map<std::string, std::string> places;
  std::set<std::string> attributes;
  for (const Entry& entry : entries) {
    if (is_of_kinds(entry)) continue;
    const auto theme = theme_named(entry.section);
    if (!theme) fail(entry.place, "no section is called " + entry.section);
    const auto [known, is_new] = places.emplace(entry.key, entry.place);
    if (!is_new) fail(entry.place, entry.key + " has a row already, at " + known->second);
    Op op = op_of(entry, *theme, rows.kinds);
    attributes.insert(op.attribute);
    if (attributes.size() > kAttributesMax) fail(entry.place, "more than 32 attributes are set");
    by_theme[static_cast<std::size_t>(*theme)].push_back(std::move(op));
  }
  for (auto& ops : by_theme) {
    rows.ops.insert(rows.ops.end(), std::make_move_iterator(ops.begin()),
                    std::make_move_iterator(ops.end()));
  }
  return rows;
}

}  // namespace slotfuzz
