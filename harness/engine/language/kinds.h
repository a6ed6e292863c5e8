// The kinds of operands of a program line: variables and literal values.
//
// ops/kinds.ops has the rows. Nothing else lists kinds: parser, printer, generator, mutator and the
// driver derive from them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/engine/language/effects.h"

namespace slotfuzz {

// The kind of API that an op or a value uses: a documented one, one whose name begins with an
// underscore (or a C++ flag), or any API with values that should raise. The lowest comes first; the
// tier of a line is the highest of its op and its values.
enum class Tier : std::uint8_t { kPublic, kUnderscore, kOdd };

// The word of a tier, as in the table and in `--describe`.
std::string_view word_of(Tier tier);

// `prefix` is empty for literals, `values` is empty for variables.
struct Kind {
  // What a row of the table calls it: a word of lower-case letters.
  std::string key;
  std::string name;
  std::string prefix;
  int count = 0;
  std::vector<std::string> values;
  // For each value, the effects that a line with it can have besides the effects of its op.
  std::vector<EffectSet> effects;
  // For each value, its tier.
  std::vector<Tier> tiers;
  // The number of this kind's first variable among all variables; literals have no variables.
  int first_variable = -1;
  // Whether each value exercises the subject differently. The values of other kinds are usually
  // interchangeable.
  bool has_names = false;

  bool is_variable() const { return !prefix.empty(); }
};

// What a row calls a variable of any kind, as in `del {0}`.
inline constexpr std::string_view kAnyVariable = "?";
// The key of C++ owners: their release may be deferred to the next line that wraps (T6).
inline constexpr std::string_view kOwnerKey = "x";
// The key of weak references of Python.
inline constexpr std::string_view kWeakrefKey = "r";

// Each variable that a program can name has one bit in a 64-bit set.
inline constexpr int kVariableMax = 64;

using VariableSet = std::uint64_t;

}  // namespace slotfuzz
