// Draws from a random generator that the caller passes in: every choice can be repeated by its
// seed.
#pragma once

#include <cstddef>
#include <random>

namespace slotfuzz {

using Rng = std::minstd_rand;

// A uniform number below `bound`; the modulo's bias does not matter here.
inline std::size_t below(Rng& rng, std::size_t bound) { return bound == 0 ? 0 : rng() % bound; }

inline bool one_in(Rng& rng, std::size_t n) { return below(rng, n) == 0; }

}  // namespace slotfuzz
