// The kinds of impls that are followed, a row each: storage and tensor.
//
// To add a kind, add a row. Where its parts stand is probed with the row's Python; tracker, checks,
// ledger, states and messages derive from the row, and nothing else lists kinds.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace slotfuzz {

inline constexpr std::size_t kImplKindsMax = 8;
inline constexpr std::size_t kImplEdgesMax = 4;

// What an impl of the kind may own, by a pointer in it or in a block that it points to. The
// functions get an example of the kind.
struct ImplEdge {
  std::string_view name;
  // Of what is owned, by name.
  std::string_view kind;
  // Of a wrapper: the attribute that wraps what is owned. Or empty.
  std::string_view attribute;
  // Gives a pair of wrappers, of an owner and of what it owns then. The owner may be the example.
  std::string_view link;
  // Takes the edge from the owner again: what then stands there stands for no impl. Or empty.
  std::string_view unlink;
  // Gives an owner that has the same block without the edge: a byte of it tells the two apart. Or
  // empty.
  std::string_view lookalike;
};

// A number that is the same before and after each program: how many `noun` live.
struct LedgerCount {
  std::string_view noun;
  std::string_view function;
};

struct ImplKindRow {
  // As messages and checks name it, and what stands before the name of a check that is about it.
  std::string_view name;
  std::string_view check_prefix;
  // The kind of operand (kinds.h) that most often holds its wrapper.
  char letter;
  // Python: the type of its wrappers, and a new one.
  std::string_view type;
  std::string_view example;
  // A pair: a wrapper, and a function that gives one more owner of its impl with each call.
  std::string_view counted;
  // What the subject has if its wrappers are preserved (P1 to P4); empty: they are.
  std::string_view preserved_if;
  std::vector<ImplEdge> edges;
  // The attribute of a wrapper that gives the node of a graph in C++, which may own the impl where
  // nobody can see it. Or empty.
  std::string_view graph;
  // How a cycle through C++ is taken apart: attributes that are set to None; and where nothing is
  // counted a function that wraps the impl again, and one that makes it release its memory.
  std::vector<std::string_view> released;
  std::string_view wrap_again, empty;
  // The ledger adds up the counts of all kinds, each function once.
  std::vector<LedgerCount> counts;
};

std::span<const ImplKindRow> impl_kind_rows();

}  // namespace slotfuzz
