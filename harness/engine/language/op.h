// A row of the op table, as values. ops/storage.ops says what the columns mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/engine/language/kinds.h"

namespace slotfuzz {

// What a line does with an operand; the marks before its letter.
enum class Use : std::uint8_t { kRead, kUnbind, kBind, kAsk, kMake };

struct Operand {
  Use use;
  char letter;
  // Index into OpTable::kinds(); -1 for kAnyVariable.
  int kind;

  bool binds() const { return use == Use::kBind || use == Use::kAsk || use == Use::kMake; }
};

inline constexpr std::size_t kOperandMax = 3;

// How often a row is drawn, relative to the others: common ones, and rare ones.
inline constexpr unsigned kWeight = 16;
inline constexpr unsigned kWeightRare = 1;

// What a line is about. Targets differ in how often they draw the lines of each theme, and in
// nothing else: there is one vocabulary.
enum class Theme : std::uint8_t { kStorage, kTensor, kThread, kInterpreter };
inline constexpr std::size_t kThemes = 4;

// Of each theme; 0: never, and nothing of its is tried.
struct Weights {
  unsigned storage = 0, tensor = 0, thread = 0, interpreter = 0;

  unsigned of(Theme theme) const {
    const unsigned all[] = {storage, tensor, thread, interpreter};
    return all[static_cast<std::size_t>(theme)];
  }
};

// By which API the line does it: the documented one, one whose name begins with an underscore (or a
// flag of C++), or any with values that should raise.
enum class Tier : std::uint8_t { kPublic, kUnderscore, kOdd };

// The words of both, as the table and `--describe` have them.
std::string_view word_of(Theme theme);
std::string_view word_of(Tier tier);

struct Op {
  std::string name;
  std::vector<Operand> operands;
  std::string pattern;
  std::string needs;
  std::string sentence;
  // How often it is drawn, relative to the others.
  unsigned weight = kWeight;
  // Only in targets that give it weight.
  Theme theme = Theme::kStorage;
  // Makes an object in the plainest way: the first row that makes one of its kind of values alone.
  // The minimizer tries that first, so a minimal program that makes it otherwise needs it so.
  bool plain = false;
  // What the line can do beside what its operands say.
  EffectSet effects;
  // The attribute that it sets: of its first operand, or of that operand's storage.
  std::string attribute;
  bool attribute_of_storage = false;
  Tier tier = Tier::kPublic;
  // Takes a tenth of a millisecond or more, and so is drawn seldom.
  bool slow = false;

  bool is_rare() const { return weight < kWeight; }
  bool has(Effect effect) const { return effects.has(effect); }
};

}  // namespace slotfuzz
