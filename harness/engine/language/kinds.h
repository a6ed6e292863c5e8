// The kinds of operand that a program line can have: variables and literal values.
//
// ops/kinds.ops has the rows. Nothing else lists kinds: parser, printer, generator, mutator and the
// driver derive from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/engine/language/effects.h"

namespace slotfuzz {

// `prefix` is empty for literals, `values` is empty for variables.
struct Kind {
  char letter = 0;
  std::string name;
  std::string prefix;
  int count = 0;
  std::vector<std::string> values;
  // Of each value, what a line can do with it beside what its op can do.
  std::vector<EffectSet> effects;
  // The number of the first variable of this kind among all variables; literals have none.
  int first_variable = -1;
  // Whether each of its values is another use of the subject; one value of another kind will most
  // often do for another.
  bool has_names = false;

  bool is_variable() const { return !prefix.empty(); }
};

// An operand letter that stands for a variable of any kind, as in `del {0}`.
inline constexpr char kAnyVariable = '?';
// The kind of an owner in C++: what it drops may wait for the next line that wraps (T6).
inline constexpr char kOwnerLetter = 'x';
// The kind of a weak reference of Python.
inline constexpr char kWeakrefLetter = 'r';

// Every variable that a program can name has one bit in a 64-bit set.
inline constexpr int kVariableMax = 64;

using VariableSet = std::uint64_t;

}  // namespace slotfuzz
