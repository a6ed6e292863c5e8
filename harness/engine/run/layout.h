// The offsets at which the subject keeps what the judge reads: impls, what they own, and use
// counts.
//
// Reading these through the Python API would change them: fetching a tensor's storage wraps it. So
// a probe finds the offsets at start-up (layout_probe.h), by comparing memory with values from the
// public API (`_cdata`), and the judge then reads memory directly. Nothing is assumed of a release:
// an offset that the probe does not find stays unknown, and the checks that need it are off.
#pragma once

#include <malloc.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/engine/run/impl_kinds.h"
#include "harness/engine/run/interpreter.h"
#include "harness/engine/run/peek.h"

namespace slotfuzz {

using Offset = std::optional<std::size_t>;

// Where an edge is stored: in the impl itself, or in a block that the impl points to.
struct EdgePlace {
  Offset block, word;
  // If the edge has a lookalike: the size that the block must have, since the impl may point to a
  // block of another kind, and the byte in it that says whether the edge exists.
  std::size_t block_bytes = 0;
  Offset flag;
};

struct KindPlaces {
  // The offset in a wrapper.
  Offset impl;
  // The offset in an impl.
  Offset use_count;
  std::array<EdgePlace, kImplEdgesMax> edges;
  // A pointer, other than null, that stands for no impl of the kind: a library has it at one
  // address throughout a process and its forks.
  const void* undefined = nullptr;
};

// A kind of impl, with the offsets that the probe found in the subject.
struct ImplKind {
  const ImplKindRow* row;
  // Its index among the kinds.
  std::size_t number;
  PyTypeObject* type;
  // The types of `other_owners` that the subject has.
  std::vector<PyTypeObject*> other_owners;
  // Whether the contract's promises about wrappers hold for it.
  bool is_preserved;
  KindPlaces at;
  // The kinds that its edges lead to, and the number of edges.
  std::array<const ImplKind*, kImplEdgesMax> targets;
  std::size_t edge_count;

  std::string_view name() const { return row->name; }
  // The edge with this name, if there is one.
  std::optional<std::size_t> edge_named(std::string_view name) const;
};

class Layout {
 public:
  explicit Layout(const Interpreter& interpreter,
                  std::span<const ImplKindRow> rows = impl_kind_rows());
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  const std::vector<ImplKind>& kinds() const { return kinds_; }
  // Null when the object is not a wrapper.
  const ImplKind* kind_of(PyObject* object) const;
  const ImplKind& kind_named(std::string_view name) const;

  // The impl of a wrapper; its address identifies it while it lives.
  const void* impl_of(PyObject* wrapper, const ImplKind& kind) const;
  // What an impl owns by its edge EDGE. Null when it owns nothing there, or the offset is unknown.
  const void* owned(const void* impl, const ImplKind& kind, std::size_t edge) const;
  std::optional<std::uint32_t> use_count_of(const void* impl, const ImplKind& kind) const;
  // Whether C++ owns the impl and the impl owns its wrapper, which then only borrows the impl.
  // Always false for a kind whose wrappers own their impls for life.
  bool is_borrowing(PyObject* wrapper, const ImplKind& kind) const;
  // A strong reference that C++ holds, by the addresses of an impl or object and of what it owns.
  struct CppReference {
    const void* owner;
    // The subject's words for the reference, and for what is owned.
    std::string link;
    const void* owned;
    std::string name;
    // All references of what is owned; 0 for a Python object.
    std::uint32_t references;
    // It owns itself, or is between two that do, so nothing frees it.
    bool is_in_cycle;
  };
  // All that a wrapper or another owner leads to in C++; nullopt if the subject cannot say. A
  // wrapper that the collector has cleared has no impl, and owns nothing.
  std::optional<std::vector<CppReference>> owned_by_cpp(PyObject* object) const;
  bool is_other_owner(PyObject* object) const;
  // The refcount of a wrapper that lives, or its last value.
  Py_ssize_t references_to(const PyObject* wrapper) const;
  // What a C++ owner owns now, by its `_cdata`, or null.
  const void* owned_by(PyObject* owner) const;

  // The offsets in bytes, for `doctor`; "-" where unknown.
  std::string describe() const;

 private:
  std::vector<ImplKind> kinds_;
  Ref cdata_;
};

// Called for each variable after each line, so these are inlined.

inline const void* Layout::impl_of(PyObject* wrapper, const ImplKind& kind) const {
  const void* impl = kind.at.impl ? peek<const void*>(wrapper, *kind.at.impl) : nullptr;
  return impl == kind.at.undefined ? nullptr : impl;
}

inline const void* Layout::owned(const void* impl, const ImplKind& kind, std::size_t edge) const {
  const EdgePlace& at = kind.at.edges[edge];
  if (!at.word || !impl) return nullptr;
  const void* block = at.block ? peek<const void*>(impl, *at.block) : impl;
  if (!block) return nullptr;
  if (at.block_bytes > 0 && malloc_usable_size(const_cast<void*>(block)) < at.block_bytes) {
    return nullptr;
  }
  if (at.flag && peek<std::uint8_t>(block, *at.flag) != 1) return nullptr;
  const void* target = peek<const void*>(block, *at.word);
  return target == kind.targets[edge]->at.undefined ? nullptr : target;
}

inline std::optional<std::uint32_t> Layout::use_count_of(const void* impl,
                                                         const ImplKind& kind) const {
  if (!kind.at.use_count || !impl) return std::nullopt;
  return peek_count(impl, *kind.at.use_count);
}

}  // namespace slotfuzz
