// Effects: what a line can do besides what its operands say. Each effect has a word, by which rows
// of the op table and names of the prelude declare it. Nothing infers an effect from a line's text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slotfuzz {

// In alphabetical order of their words; ops/storage.ops defines each.
#define SLOTFUZZ_EFFECTS(EFFECT)                   \
  EFFECT(kCallsBack, "calls_back")                 \
  EFFECT(kChecks, "checks")                        \
  EFFECT(kCollects, "collects")                    \
  EFFECT(kDangles, "dangles")                      \
  EFFECT(kEntersHermetic, "enters_hermetic")       \
  EFFECT(kEntersInterpreter, "enters_interpreter") \
  EFFECT(kEntersMode, "enters_mode")               \
  EFFECT(kExceedsMemory, "exceeds_memory")         \
  EFFECT(kExotic, "exotic")                        \
  EFFECT(kFinalizes, "finalizes")                  \
  EFFECT(kGrows, "grows")                          \
  EFFECT(kInHermetic, "in_hermetic")               \
  EFFECT(kLeavesHermetic, "leaves_hermetic")       \
  EFFECT(kLeavesMode, "leaves_mode")               \
  EFFECT(kLocks, "locks")                          \
  EFFECT(kMakesOwner, "makes_owner")               \
  EFFECT(kRaises, "raises")                        \
  EFFECT(kResurrects, "resurrects")                \
  EFFECT(kSetsAttribute, "sets_attribute")         \
  EFFECT(kShrinks, "shrinks")                      \
  EFFECT(kStartsThread, "starts_thread")           \
  EFFECT(kSwaps, "swaps")                          \
  EFFECT(kTakesResurrected, "takes_resurrected")

enum class Effect : std::uint8_t {
#define SLOTFUZZ_ROW(name, word) name,
  SLOTFUZZ_EFFECTS(SLOTFUZZ_ROW)
#undef SLOTFUZZ_ROW
};

class EffectSet {
 public:
  EffectSet() = default;
  explicit EffectSet(const std::vector<Effect>& effects) {
    for (const Effect effect : effects) add(effect);
  }
  void add(Effect effect) { bits_ |= std::uint32_t{1} << static_cast<unsigned>(effect); }
  bool has(Effect effect) const { return bits_ >> static_cast<unsigned>(effect) & 1; }
  // The words in alphabetical order.
  std::vector<std::string_view> words() const;

 private:
  std::uint32_t bits_ = 0;
};

std::optional<Effect> effect_named(std::string_view word);
// All words, for an error message that lists them.
std::string effect_words();

}  // namespace slotfuzz
