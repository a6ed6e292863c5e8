// The tracker's records: of variables, live impls, weak references, and the last line.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_set>

#include "harness/engine/owners/kept.h"

namespace slotfuzz {

enum class Mode : std::uint8_t { kUnknown, kNormal, kHermetic };

// What a variable is bound to.
struct Binding {
  PyObject* object = nullptr;
  const void* impl = nullptr;
  // The owned impls, by the edges of the impl's kind.
  std::array<const void*, kImplEdgesMax> owns{};
  // The kind of the impl whose wrapper the object is; null if the object is not a wrapper.
  const ImplKind* kind = nullptr;
  // The kind that a C++ owner owns; null if the object is not a C++ owner.
  const ImplKind* owned = nullptr;
  Mode mode = Mode::kUnknown;
  int serial = -1;
  // The lane of the line that bound it.
  std::uint8_t lane = 0;

  bool owns_by_edge(const void* other) const {
    for (const void* one : owns) {
      if (one == other) return true;
    }
    return false;
  }
};

// An impl that is certain to live.
struct Life {
  const void* impl;
  // Its normal wrapper, and what that wrapper must keep (P2).
  PyObject* wrapper;
  PyTypeObject* type;
  std::uint32_t attributes;
  int serial;
  const ImplKind* kind;
};

// A weak reference that the program made to a normal wrapper.
struct Weak {
  int variable;
  // Borrowed: valid while the variable is bound to it.
  PyObject* reference;
  // Owned, to check it after the end. Null when the weak reference has a callback: a strong
  // reference would also keep what the callback holds.
  Ref kept;
  const void* impl;
  PyObject* wrapper;
  const ImplKind* kind;
  bool excused;
};

// Whether a weak reference returns None.
bool is_dead(PyObject* reference);

// A run of a finalizer, and how many runs the object has had.
struct FinalizerRun {
  long serial;
  int count;
};

// The cycles of C++ links alone that lines have closed: neither use counts nor the collector free
// them.
struct CppCycles {
  bool any = false;
  // Of hermetic wrappers, which do not survive their variables, so that nobody can ask at the end:
  // the cycles, and the addresses of all impls and objects that these lead to. Empty if the subject
  // lists no owners.
  std::vector<KeptCycle> cycles;
  std::unordered_set<const void*> owned;
};

// What the last line did, for the checks. A line binds at most one variable.
struct Seen {
  std::size_t index = 0;
  // Whether the line ran in hermetic mode, which may cover that line only.
  bool in_hermetic = false;
  bool collected = false;
  std::uint8_t lane = 0;
  // The variable that got the wrapper for which the line asked in hermetic mode.
  std::optional<int> asked_in_hermetic;
  // The variable that got a normal wrapper of a followed impl, and the earlier record.
  std::optional<int> met_again;
  Life before{};
  // Finalizer runs since the last line.
  std::vector<FinalizerRun> finalizer_runs;
  // Weak references that died while the impl lives with the same wrapper.
  std::vector<const Weak*> died_early;
};

}  // namespace slotfuzz
