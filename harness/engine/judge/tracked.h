// What the tracker knows: of variables, of impls that live, of weak references, and of a line.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "harness/engine/run/layout.h"

namespace slotfuzz {

enum class Mode : std::uint8_t { kUnknown, kNormal, kHermetic };

// What a variable is bound to.
struct Binding {
  PyObject* object = nullptr;
  const void* impl = nullptr;
  // By the edges of the impl's kind.
  std::array<const void*, kImplEdgesMax> owns{};
  // Of the impl whose wrapper the object is; null if it is none.
  const ImplKind* kind = nullptr;
  // Of what an owner in C++ owns; null if the object is no such owner.
  const ImplKind* owned = nullptr;
  Mode mode = Mode::kUnknown;
  int serial = -1;
  // Of the line that bound it.
  std::uint8_t lane = 0;

  bool owns_by_edge(const void* other) const {
    for (const void* one : owns) {
      if (one == other) return true;
    }
    return false;
  }
};

// What is known of an impl while it is known to live.
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
  // Owned, to see what becomes of it after the end; null when it has a callback, since holding
  // the reference would hold what the callback holds.
  Ref kept;
  const void* impl;
  PyObject* wrapper;
  const ImplKind* kind;
  bool excused;
};

// Whether a weak reference gives nothing any more.
bool is_dead(PyObject* reference);

// A run of a finalizer, and how many the object has had.
struct FinalizerRun {
  long serial;
  int count;
};

// What the last line did that the checks speak of. A line binds at most one variable.
struct Seen {
  std::size_t index = 0;
  // In hermetic mode while it ran, which may be for its own span only.
  bool in_hermetic = false;
  bool collected = false;
  std::uint8_t lane = 0;
  // The variable that got a wrapper which was asked for in hermetic mode.
  std::optional<int> asked_in_hermetic;
  // The variable that got a normal wrapper of a known impl, and what was known before.
  std::optional<int> met_again;
  Life before{};
  // Since the last line.
  std::vector<FinalizerRun> finalizer_runs;
  // Weak references that have died while the impl lives and its wrapper is the same.
  std::vector<const Weak*> died_early;
};

}  // namespace slotfuzz
