// Maps effects to words, and words to effects.
#include "harness/engine/language/effects.h"

namespace slotfuzz {
namespace {

constexpr std::string_view kWords[] = {
#define SLOTFUZZ_ROW(name, word) word,
    SLOTFUZZ_EFFECTS(SLOTFUZZ_ROW)
#undef SLOTFUZZ_ROW
};
static_assert(std::size(kWords) <= 32, "an EffectSet has 32 bits");

}  // namespace

std::vector<std::string_view> EffectSet::words() const {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < std::size(kWords); ++i) {
    if (has(static_cast<Effect>(i))) words.push_back(kWords[i]);
  }
  return words;
}

std::optional<Effect> effect_named(std::string_view word) {
  for (std::size_t i = 0; i < std::size(kWords); ++i) {
    if (kWords[i] == word) return static_cast<Effect>(i);
  }
  return std::nullopt;
}

std::string effect_words() {
  std::string words;
  for (const std::string_view word : kWords) words.append(words.empty() ? "" : " ").append(word);
  return words;
}

}  // namespace slotfuzz
