// The strongly connected components of a graph: each is a set of nodes that lead to each other.
#pragma once

#include <cstddef>
#include <vector>

namespace slotfuzz {

using Graph = std::vector<std::vector<std::size_t>>;

// Those that no node outside leads to and that have a cycle, in the order of their first node.
// Takes time in proportion to the graph, and no stack.
std::vector<std::vector<std::size_t>> source_components(const Graph& graph);

// Whether each node is in a cycle.
std::vector<bool> in_cycles(const Graph& graph);

// The nodes of a shortest cycle through FROM, which is the first of them; empty if it is in none.
std::vector<std::size_t> shortest_cycle(const Graph& graph, std::size_t from);

}  // namespace slotfuzz
