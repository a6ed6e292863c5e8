// The kinds of operand that a program line can have: variables and literal values.
//
// To add a variable kind, add a VARIABLE row; to add a literal kind, add a VALUES row here, or one
// in kinds_torch.h. Nothing else lists kinds: parser, printer, generator, mutator and the driver
// derive from these rows.
//
//   VARIABLE(letter, name, prefix, count)   a program names at most `count` of them: s0 .. s3
//   VALUES(letter, name, "simplest|next|..")  the order is the order in which the minimizer tries
//                                             them; one will most often do for another
//   NAMES(letter, name, "simplest|next|..")   the same, but each is another use of the subject
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#define SLOTFUZZ_VARIABLE_KINDS(VARIABLE)     \
  VARIABLE('s', "storage", "s", 4)            \
  VARIABLE('t', "tensor", "t", 4)             \
  VARIABLE('r', "weakref", "r", 3)            \
  VARIABLE('c', "C++ weak reference", "c", 2) \
  VARIABLE('l', "list", "l", 2)               \
  VARIABLE('k', "dictionary", "d", 2)         \
  VARIABLE('e', "exception", "e", 2)          \
  VARIABLE('g', "generator", "g", 2)          \
  VARIABLE('f', "closure", "f", 2)            \
  VARIABLE('p', "instance", "p", 2)           \
  VARIABLE('m', "memoryview", "m", 2)         \
  VARIABLE('o', "other interpreter", "o", 2)  \
  VARIABLE('x', "C++ owner", "x", 2)

#define SLOTFUZZ_VALUE_KINDS(VALUES)                                                       \
  VALUES('n', "size", "1|0|4|64")                                                          \
  VALUES('d', "tensor size", "1|0")                                                        \
  VALUES('y', "type of numbers", "T.float32|T.float64|T.int64|T.uint8|T.bool|T.complex64") \
  VALUES('b', "large size", "65536")                                                       \
  VALUES('h', "huge size", "1 << 40|(1 << 63) - 1|-1")                                     \
  VALUES('i', "index", "0|3|-1|100")                                                       \
  VALUES('v', "byte", "0|7|255")

namespace slotfuzz {

// A row of either table. `prefix` is empty for literals, `values` is empty for variables.
struct Kind {
  char letter;
  std::string_view name;
  std::string_view prefix;
  int count;
  std::vector<std::string> values;
  // The number of the first variable of this kind among all variables; literals have none.
  int first_variable;
  // Whether its values are NAMES.
  bool has_names;

  bool is_variable() const { return !prefix.empty(); }
};

// An operand letter that stands for a variable of any kind, as in `del {0}`.
inline constexpr char kAnyVariable = '?';
// The kind of an owner in C++: what it drops may wait for the next line that wraps (T6).
inline constexpr char kOwnerLetter = 'x';

// Every variable that a program can name has one bit in a 64-bit set.
inline constexpr int kVariableMax = 64;

using VariableSet = std::uint64_t;

// The rows of both tables, in order; built once by OpTable.
std::vector<Kind> make_kinds();

}  // namespace slotfuzz
