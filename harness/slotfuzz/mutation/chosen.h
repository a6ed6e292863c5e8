// Which mutant of the mutated core this process runs. `./slotfuzz bench mutation` copies this file
// beside the mutated sources; no other build has it.
#pragma once

#include <optional>

namespace slotfuzz_mutation {

// The mutant's number, from $SLOTFUZZ_MUTANT when the process starts. None is 0. With -1 nothing is
// mutated, and how often each site runs is counted in the file $SLOTFUZZ_REACHED, 4 bytes for each.
inline constinit int number = 0;

void note(int site) noexcept;

inline bool chosen(int site) noexcept {
  if (number >= 0) [[likely]] return number == site;
  note(site);
  return false;
}

}  // namespace slotfuzz_mutation
