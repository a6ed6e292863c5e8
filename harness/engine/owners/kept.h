// Why objects live on when a program is over: the cycles of owners that keep them, and whether the
// contract lets a cycle stay (P5, A4a).
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "harness/engine/owners/ideal_collector.h"

namespace slotfuzz {

// Why a cycle is not freed.
enum class Kept : std::uint8_t {
  // Excused: two owners share a part of it, and neither may report what they share.
  kShared,
  // Excused: an impl owns itself in C++, through a link that only the program makes.
  kOwnsItself,
  // Excused: Python refers to a wrapper that C++ keeps, which hides its references under
  // resurrection (P2).
  kHidden,
  // A leak: one wrapper alone owns each part in C++, so the collector must free it.
  kCollectable,
  // A leak: C++ owns itself, and no link of it is the program's.
  kOfCppAlone,
  // A leak: a part has more references than the subject and Python list.
  kUnlisted,
};

bool is_excused(Kept kept);
// Its word in a reply; answers.py has the same list.
std::string_view word_of(Kept kept);

struct KeptCycle {
  Kept kept;
  // What the word is about, and the names of its owners.
  std::string part;
  std::vector<std::string> owners;
  // Each owner with the name of its reference to the next; the last one refers to the first. Empty
  // for kUnlisted, of which the owner is not known.
  struct Step {
    std::string name, link;
  };
  std::vector<Step> cycle;
};

// What to call things.
struct KeptNames {
  // The variable of the program that held the object or impl last, or an empty string.
  std::function<std::string(const void* address)> variable;
  // Attributes that programs set.
  const std::vector<std::string>& attributes;
};

// The cycles that nothing outside owns: leaks first, and of each sort a few. Empty if the
// references have no such cycle. UNSEEN: impls and objects that may have owners which
// nobody can list, because no object leads to these.
std::vector<KeptCycle> kept_cycles(const References& references, bool resurrects,
                                   const std::unordered_set<const void*>& unseen,
                                   const KeptNames& names);

// The cycle of C++ links among OWNED, which an impl called NAME leads to; nullopt without one.
std::optional<KeptCycle> cycle_in_cpp(const std::vector<Layout::CppReference>& owned,
                                      const void* impl, const std::string& name);

}  // namespace slotfuzz
