// What a line can do beside what its operands say: effects, each with the word that rows of the op
// table and names of the prelude declare it by. Nothing recovers an effect from the text of a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slotfuzz {

//   EFFECT(name, word)
#define SLOTFUZZ_EFFECTS(EFFECT)                                                               \
  EFFECT(kCollects, "collects")               /* runs the collector of this interpreter */     \
  EFFECT(kEntersHermetic, "enters_hermetic")  /* and stays in hermetic mode */                 \
  EFFECT(kLeavesHermetic, "leaves_hermetic")                                                   \
  EFFECT(kInHermetic, "in_hermetic")          /* is in hermetic mode for its own span */       \
  EFFECT(kFinalizes, "finalizes")             /* makes an object whose __del__ is Python */    \
  EFFECT(kResurrects, "resurrects")           /* makes one whose __del__ keeps an object */    \
  EFFECT(kTakesResurrected, "takes_resurrected")  /* fetches what a __del__ has kept */        \
  EFFECT(kCallsBack, "calls_back")            /* makes a weak reference with a callback */     \
  EFFECT(kSwaps, "swaps")                     /* exchanges two tensors, names aside */         \
  EFFECT(kShrinks, "shrinks")                 /* may shrink the memory of a storage */         \
  EFFECT(kGrows, "grows")                     /* may enlarge it */                             \
  EFFECT(kRaises, "raises")                   /* for operands that were made plainly */        \
  EFFECT(kStartsThread, "starts_thread")      /* of Python or of C++ */                        \
  EFFECT(kEntersInterpreter, "enters_interpreter")  /* another one of the process */           \
  EFFECT(kMakesOwner, "makes_owner")          /* a C++ owner, which is no tensor */            \
  EFFECT(kLocks, "locks")                     /* locks a C++ weak reference of the program */  \
  EFFECT(kSetsAttribute, "sets_attribute")    /* Op::attribute says which */                   \
  EFFECT(kExotic, "exotic")                   /* leaves an exotic impl or exotic memory */     \
  EFFECT(kDangles, "dangles")                 /* may leave a dangling slot or wrapper */       \
  EFFECT(kChecks, "checks")                   /* carries its own expectation */                \
  EFFECT(kChecksStorage, "checks_storage")    /* and that is about a storage, not a tensor */  \
  EFFECT(kExceedsMemory, "exceeds_memory")    /* asks for more memory than there is */

enum class Effect : std::uint8_t {
#define SLOTFUZZ_ROW(name, word) name,
  SLOTFUZZ_EFFECTS(SLOTFUZZ_ROW)
#undef SLOTFUZZ_ROW
};

class EffectSet {
 public:
  void add(Effect effect) { bits_ |= std::uint32_t{1} << static_cast<unsigned>(effect); }
  bool has(Effect effect) const { return bits_ >> static_cast<unsigned>(effect) & 1; }
  // In the order of the table above.
  std::vector<std::string_view> words() const;

 private:
  std::uint32_t bits_ = 0;
};

std::optional<Effect> effect_named(std::string_view word);
// The words of the table above, for an error that says what there is.
std::string effect_words();

}  // namespace slotfuzz
