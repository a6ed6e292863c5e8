// Parses the parts of a row that have a syntax: operands, templates, words.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/engine/language/op.h"

namespace slotfuzz {

inline constexpr std::string_view kSetsAttribute = "sets_attribute=";
inline constexpr std::string_view kChecksKind = "checks=";

// The words of a text, which spaces separate.
std::vector<std::string_view> words_of(std::string_view text);
// Parses operands such as `+s n`; on an error, WRONG describes it.
std::vector<Operand> operands_of(std::string_view text, const std::vector<Kind>& kinds,
                                 std::string& wrong);
// How a template contradicts its operands; empty if it does not.
std::string mismatch(std::string_view pattern, const std::vector<Operand>& operands);
// `sets_attribute=storage.tag`: the name, and whether it is the storage's.
std::pair<std::string, bool> attribute_of(std::string_view word);

}  // namespace slotfuzz
