// Tarjan's algorithm with a stack of its own.
#include "harness/engine/owners/components.h"

#include <algorithm>
#include <limits>

namespace slotfuzz {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

class Tarjan {
 public:
  explicit Tarjan(const Graph& graph)
      : graph_(graph), number_(graph.size(), kNone), low_(graph.size()), of_(graph.size(), kNone) {
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (number_[i] == kNone) visit(i);
    }
  }
  // The component of each node.
  const std::vector<std::size_t>& of() const { return of_; }
  std::size_t count() const { return count_; }

 private:
  struct Call {
    std::size_t node, next;
  };

  void visit(std::size_t root) {
    std::vector<Call> calls;
    enter(root, calls);
    while (!calls.empty()) {
      auto& [node, next] = calls.back();
      if (next < graph_[node].size()) {
        const std::size_t to = graph_[node][next++];
        if (number_[to] == kNone) {
          enter(to, calls);
        } else if (of_[to] == kNone) {
          low_[node] = std::min(low_[node], number_[to]);
        }
        continue;
      }
      const std::size_t done = node;
      calls.pop_back();
      if (!calls.empty()) low_[calls.back().node] = std::min(low_[calls.back().node], low_[done]);
      if (low_[done] == number_[done]) close(done);
    }
  }
  void enter(std::size_t node, std::vector<Call>& calls) {
    number_[node] = low_[node] = numbered_++;
    open_.push_back(node);
    calls.push_back({node, 0});
  }
  void close(std::size_t root) {
    for (std::size_t node = kNone; node != root;) {
      node = open_.back();
      open_.pop_back();
      of_[node] = count_;
    }
    ++count_;
  }

  const Graph& graph_;
  std::vector<std::size_t> number_, low_, of_, open_;
  std::size_t numbered_ = 0, count_ = 0;
};

}  // namespace

std::vector<std::vector<std::size_t>> source_components(const Graph& graph) {
  const Tarjan tarjan(graph);
  std::vector<bool> is_owned(tarjan.count()), has_cycle(tarjan.count());
  for (std::size_t from = 0; from < graph.size(); ++from) {
    for (const std::size_t to : graph[from]) {
      const std::size_t of = tarjan.of()[to];
      (tarjan.of()[from] == of ? has_cycle : is_owned)[of] = true;
    }
  }
  std::vector<std::vector<std::size_t>> found;
  std::vector<std::size_t> place(tarjan.count(), kNone);
  for (std::size_t node = 0; node < graph.size(); ++node) {
    const std::size_t of = tarjan.of()[node];
    if (is_owned[of] || !has_cycle[of]) continue;
    if (place[of] == kNone) {
      place[of] = found.size();
      found.emplace_back();
    }
    found[place[of]].push_back(node);
  }
  return found;
}

std::vector<bool> in_cycles(const Graph& graph) {
  const Tarjan tarjan(graph);
  std::vector<bool> has_cycle(tarjan.count()), found(graph.size());
  for (std::size_t from = 0; from < graph.size(); ++from) {
    for (const std::size_t to : graph[from]) {
      if (tarjan.of()[from] == tarjan.of()[to]) has_cycle[tarjan.of()[from]] = true;
    }
  }
  for (std::size_t i = 0; i < graph.size(); ++i) found[i] = has_cycle[tarjan.of()[i]];
  return found;
}

std::vector<std::size_t> shortest_cycle(const Graph& graph, std::size_t from) {
  std::vector<std::size_t> before(graph.size(), kNone), queue = {from};
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::size_t node = queue[at];
    for (const std::size_t to : graph[node]) {
      if (to == from) {
        std::vector<std::size_t> cycle = {node};
        while (cycle.back() != from) cycle.push_back(before[cycle.back()]);
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (before[to] != kNone) continue;
      before[to] = node;
      queue.push_back(to);
    }
  }
  return {};
}

}  // namespace slotfuzz
