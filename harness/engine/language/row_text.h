// The parts of a row that are small languages of their own: operands, templates, words.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/engine/language/op.h"

namespace slotfuzz {

inline constexpr std::string_view kSetsAttribute = "sets_attribute=";

// Words with spaces between them.
std::vector<std::string_view> words_of(std::string_view text);
// `+s n` as operands; or WRONG says what is wrong with it.
std::vector<Operand> operands_of(std::string_view text, const std::vector<Kind>& kinds,
                                 std::string& wrong);
// How a template does not do what its operands say; empty: it does.
std::string mismatch(std::string_view pattern, const std::vector<Operand>& operands);
// `sets_attribute=storage.tag`: the name, and whether it is the storage's.
std::pair<std::string, bool> attribute_of(std::string_view word);

}  // namespace slotfuzz
