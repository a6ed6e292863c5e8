// The kinds of impls that the engine follows, one row each: storage and tensor.
//
// To add a kind, add a row. A probe finds the offsets of its fields by the Python in the row.
// Tracker, checks, ledger, states and messages derive from the row, and nothing else lists kinds.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace slotfuzz {

inline constexpr std::size_t kImplKindsMax = 8;
inline constexpr std::size_t kImplEdgesMax = 4;

// An edge: an impl of the kind may own another by a pointer, in the impl or in a block that it
// points to. The functions below take an example wrapper of the kind.
struct ImplEdge {
  std::string_view name;
  // The name of the kind of the owned impl.
  std::string_view kind;
  // The attribute of a wrapper that wraps the owned impl. Or empty.
  std::string_view attribute;
  // Returns two wrappers: an owner, and what it owns then. The owner may be the example.
  std::string_view link;
  // Removes the edge from the owner; the pointer then stands for no impl. Or empty.
  std::string_view unlink;
  // Returns an owner that has the same block without the edge: one byte of the block differs. Or
  // empty.
  std::string_view lookalike;
};

// A type of objects that own impls, and are the wrapper of none. How the reset makes one release
// what it owns: a method that it calls, or empty, and attributes that it sets to None.
struct OtherOwner {
  std::string_view type, clear;
  std::vector<std::string_view> released;
};

// A count of live objects, named `noun`, that must be equal before and after each program.
struct LedgerCount {
  std::string_view noun;
  std::string_view function;
  // It counts the impls of all kinds.
  bool is_of_impls = false;
};

struct ImplKindRow {
  // The name in messages and checks, and the prefix of the names of checks on this kind.
  std::string_view name;
  std::string_view check_prefix;
  // The key of the operands (kinds.h) that usually hold a wrapper of this kind.
  std::string_view key;
  // Python: the type of its wrappers, and an expression that creates one.
  std::string_view type;
  std::string_view example;
  // Returns a wrapper, and a function that adds one owner of its impl with each call.
  std::string_view counted;
  // An attribute that the subject has if it preserves wrappers (P1 to P4); empty: it always does.
  std::string_view preserved_if;
  std::vector<ImplEdge> edges;
  // The attribute of a wrapper that gives the node of a C++ graph. That node may own the impl, and
  // the judge cannot see it. Or empty.
  std::string_view graph;
  // A method of a wrapper that returns what its impl owns in C++, as tuples of the fields of
  // Layout::CppReference. "impl" is the reference of a wrapper to its impl, "hermetic" that of a
  // hermetic wrapper, and "wrapper" that of an impl to its wrapper. If the kinds of a subject have
  // it, the judge computes which cycle keeps an object, and does not ask for the graph. Or empty.
  std::string_view owned;
  // Other objects that have this method: wrappers of nodes, and ctxs.
  std::vector<OtherOwner> other_owners;
  // How the reset breaks a cycle through C++: a method that it calls, or empty, and attributes that
  // it sets to None. If the subject counts no objects: also a function that wraps the impl again,
  // and one that makes it release its memory.
  std::string_view clear;
  std::vector<std::string_view> released;
  std::string_view wrap_again, empty;
  // The ledger adds up the counts of all kinds, and calls each function once.
  std::vector<LedgerCount> counts;
};

std::span<const ImplKindRow> impl_kind_rows();

}  // namespace slotfuzz
