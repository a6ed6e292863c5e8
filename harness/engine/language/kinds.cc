// Turns the two kind tables of kinds.h into values.
#include "harness/engine/language/kinds.h"

#include "harness/engine/language/kinds_torch.h"

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
  kinds.push_back({letter, name, prefix, count, {}, variables, false}); \
  variables += count;
  SLOTFUZZ_VARIABLE_KINDS(SLOTFUZZ_ROW)
#undef SLOTFUZZ_ROW
#define SLOTFUZZ_LITERALS(has_names, letter, name, list)                   \
  kinds.push_back({letter, name, "", 0, split(list, '|'), -1, has_names}); \
  kinds.back().count = static_cast<int>(kinds.back().values.size());
#define SLOTFUZZ_VALUES(...) SLOTFUZZ_LITERALS(false, __VA_ARGS__)
#define SLOTFUZZ_NAMES(...) SLOTFUZZ_LITERALS(true, __VA_ARGS__)
  SLOTFUZZ_VALUE_KINDS(SLOTFUZZ_VALUES)
  SLOTFUZZ_TORCH_KINDS(SLOTFUZZ_VALUES, SLOTFUZZ_NAMES)
#undef SLOTFUZZ_NAMES
#undef SLOTFUZZ_VALUES
#undef SLOTFUZZ_LITERALS
  return kinds;
}

}  // namespace slotfuzz
