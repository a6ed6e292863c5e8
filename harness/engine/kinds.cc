// Turns the two kind tables of kinds.h into values.
#include "harness/engine/kinds.h"

namespace slotfuzz {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<Kind> make_kinds() {
  std::vector<Kind> kinds;
  int variables = 0;
#define SLOTFUZZ_ROW(letter, name, prefix, count)                \
  kinds.push_back({letter, name, prefix, count, {}, variables}); \
  variables += count;
  SLOTFUZZ_VARIABLE_KINDS(SLOTFUZZ_ROW)
#undef SLOTFUZZ_ROW
#define SLOTFUZZ_ROW(letter, name, list)                        \
  kinds.push_back({letter, name, "", 0, split(list, '|'), -1}); \
  kinds.back().count = static_cast<int>(kinds.back().values.size());
  SLOTFUZZ_VALUE_KINDS(SLOTFUZZ_ROW)
#undef SLOTFUZZ_ROW
  return kinds;
}

}  // namespace slotfuzz
