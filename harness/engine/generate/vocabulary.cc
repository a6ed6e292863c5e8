// Weights of ops: those of the table, a random subset, or the ops that ask for wrappers.
#include "harness/engine/generate/vocabulary.h"

#include <algorithm>

namespace slotfuzz {

Vocabulary::Vocabulary(const OpTable& table, const std::vector<bool>& available,
                       const Weights& weights) {
  for (std::size_t op = 0; op < available.size(); ++op) {
    const Op& row = table.ops()[op];
    weights_.push_back(available[op] ? row.weight * weights.of(row.theme) : 0);
    seldom_.push_back(row.slow &&
                      (row.is_rare() || weights.of(row.theme) * kSeldom < weights.storage));
  }
}

bool Vocabulary::empty() const {
  return std::all_of(weights_.begin(), weights_.end(), [](unsigned w) { return w == 0; });
}

Vocabulary Vocabulary::swarm(Rng& rng) const {
  if (one_in(rng, 4)) return *this;
  Vocabulary drawn = *this;
  // At least a quarter stays, or most drawn programs would be empty.
  const std::size_t keep_of_eight = 2 + below(rng, 6);
  for (unsigned& weight : drawn.weights_) {
    if (below(rng, 8) >= keep_of_eight) weight = 0;
    weight *= 1u << below(rng, 4);
  }
  return drawn.empty() ? *this : drawn;
}

Vocabulary Vocabulary::asking(const OpTable& table) const {
  Vocabulary drawn = *this;
  for (std::size_t op = 0; op < weights_.size(); ++op) {
    const auto& operands = table.ops()[op].operands;
    const bool asks = std::any_of(operands.begin(), operands.end(),
                                  [](const Operand& operand) { return operand.use == Use::kAsk; });
    if (!asks) drawn.weights_[op] = 0;
  }
  return drawn.empty() ? *this : drawn;
}

}  // namespace slotfuzz
