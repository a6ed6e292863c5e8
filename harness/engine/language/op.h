// A row of the op table, parsed. ops/storage.ops defines the columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/engine/language/kinds.h"

namespace slotfuzz {

// What a line does with an operand; a mark before the operand's key says so.
enum class Use : std::uint8_t { kRead, kUnbind, kBind, kAsk, kMake };

struct Operand {
  Use use;
  // Index into OpTable::kinds(); -1 for kAnyVariable.
  int kind;

  bool binds() const { return use == Use::kBind || use == Use::kAsk || use == Use::kMake; }
};

inline constexpr std::size_t kOperandMax = 5;

// How often a row is drawn, relative to the others: the weights of common and of rare rows.
inline constexpr unsigned kWeight = 16;
inline constexpr unsigned kWeightRare = 1;

// The topic of a line. Targets share one vocabulary, and differ only in how often they draw the
// lines of each theme.
enum class Theme : std::uint8_t { kStorage, kTensor, kThread, kInterpreter, kAutograd, kMeta };
inline constexpr std::size_t kThemes = 6;

// The weight of each theme; 0: its lines are never drawn, and its ops are not probed.
struct Weights {
  unsigned storage = 0, tensor = 0, thread = 0, interpreter = 0, autograd = 0, meta = 0;

  unsigned of(Theme theme) const {
    const unsigned all[] = {storage, tensor, thread, interpreter, autograd, meta};
    return all[static_cast<std::size_t>(theme)];
  }
};

// The word of a theme, as in the table and in `--describe`.
std::string_view word_of(Theme theme);
// The theme that a word names, if one does.
std::optional<Theme> theme_named(std::string_view word);

struct Op {
  std::string name;
  std::vector<Operand> operands;
  std::string pattern;
  std::string needs;
  std::string sentence;
  // How often the row is drawn, relative to the others.
  unsigned weight = kWeight;
  // Only targets that give the theme weight draw the row.
  Theme theme = Theme::kStorage;
  // Whether this row makes an object in the plainest form: it is the first row that makes one of
  // its kind from values alone. The minimizer tries plain rows first, so if a minimal program makes
  // the object otherwise, that matters.
  bool plain = false;
  // What the line can do besides what its operands say.
  EffectSet effects;
  // The attribute that the line sets on its first operand, or on that operand's storage.
  std::string attribute;
  bool attribute_of_storage = false;
  // The kind of variables whose impl must be kept, if that is what the line checks.
  std::string checks_kind;
  // The values of a line may be of a higher tier.
  Tier tier = Tier::kPublic;
  // The line takes 0.1 ms or more, so it is drawn seldom.
  bool slow = false;
  // The line checks, and raises nothing but its assertion if its operands are of their kinds.
  bool certain = false;
  // Features that the line reaches depend on when another thread runs.
  bool timed = false;

  bool is_rare() const { return weight < kWeight; }
  bool has(Effect effect) const { return effects.has(effect); }
};

}  // namespace slotfuzz
