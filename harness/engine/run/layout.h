// Where the subject keeps what the judge looks at: impls, what they own, and use counts, as offsets
// into its objects.
//
// Reading them through the Python API would change what is observed: fetching a tensor's storage
// wraps it. So the offsets are probed at start-up (layout_probe.h), by comparing memory with values
// that the public API gives (`_cdata`), and read directly from then on. Nothing is assumed of a
// release; what cannot be found stays unknown, and the checks that need it are off.
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

// Where an edge stands: in the impl itself, or in a block that the impl points to.
struct EdgePlace {
  Offset block, word;
  // Of an edge with a lookalike: the block may be of another kind, which its size shows; and a byte
  // of it says whether the edge is there.
  std::size_t block_bytes = 0;
  Offset flag;
};

struct KindPlaces {
  // In a wrapper.
  Offset impl;
  // In an impl.
  Offset use_count;
  std::array<EdgePlace, kImplEdgesMax> edges;
  // What stands for no impl of the kind, where that is not null: a library has it at one address
  // for as long as a process and those forked from it run.
  const void* undefined = nullptr;
};

// A kind of impl with what was found of it in the subject.
struct ImplKind {
  const ImplKindRow* row;
  // Its place among the kinds; what is of no kind has none.
  std::size_t number;
  PyTypeObject* type;
  // Whether the contract's promises about wrappers hold.
  bool is_preserved;
  KindPlaces at;
  // Of what its edges lead to, and of the edges, how many there are.
  std::array<const ImplKind*, kImplEdgesMax> targets;
  std::size_t edge_count;

  std::string_view name() const { return row->name; }
  // The edge of that name, if there is one.
  std::optional<std::size_t> edge_named(std::string_view name) const;
};

class Layout {
 public:
  explicit Layout(const Interpreter& interpreter,
                  std::span<const ImplKindRow> rows = impl_kind_rows());
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  const std::vector<ImplKind>& kinds() const { return kinds_; }
  // Null when the object is no wrapper.
  const ImplKind* kind_of(PyObject* object) const;
  const ImplKind& kind_named(std::string_view name) const;

  // The impl of a wrapper; its address is its identity while it lives.
  const void* impl_of(PyObject* wrapper, const ImplKind& kind) const;
  // What an impl owns by its edge EDGE. Null when that is nothing, or when the offset is unknown.
  const void* owned(const void* impl, const ImplKind& kind, std::size_t edge) const;
  std::optional<std::uint32_t> use_count_of(const void* impl, const ImplKind& kind) const;
  // Whether C++ owns the impl and the impl its wrapper, which then only borrows it. Never where a
  // wrapper owns its impl for life.
  bool is_borrowing(PyObject* wrapper, const ImplKind& kind) const;
  // Python references to a wrapper that lives, or lived when it was last seen.
  Py_ssize_t references_to(const PyObject* wrapper) const;
  // What an owner in C++ owns now, by its `_cdata`, or null.
  const void* owned_by(PyObject* owner) const;

  // What was found, for `doctor`: offsets in bytes, "-" where unknown.
  std::string describe() const;

 private:
  std::vector<ImplKind> kinds_;
  Ref cdata_;
};

// Asked of each variable after each line: inlined.

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
