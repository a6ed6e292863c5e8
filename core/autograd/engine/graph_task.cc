// Dependencies, captures and the queue of a backward.

#include "core/autograd/engine/graph_task.h"

#include <algorithm>
#include <unordered_set>

#include "core/autograd/functions/arithmetic.h"
#include "core/c10/check.h"
#include "core/c10/live_counts.h"

namespace slotcore::autograd {

void InputBuffer::add(uint32_t input_nr, TensorPtr gradient) {
  if (!gradient) return;
  TensorPtr& known = gradients_.at(input_nr);
  known = known ? autograd::add(Operand(*known), Operand(*gradient)) : std::move(gradient);
}

GraphTask::GraphTask(BackwardOptions options) : options_(options) { live_graph_tasks.add(); }

GraphTask::~GraphTask() { live_graph_tasks.remove(); }

void GraphTask::count_dependencies(const intrusive_ptr<Node>& root) {
  std::vector<Node*> pending{root.get()};
  dependencies_.emplace(root.get(), 0);
  while (!pending.empty()) {
    Node* node = pending.back();
    pending.pop_back();
    for (const Edge& edge : node->next_edges()) {
      if (!edge.node) continue;
      auto [found, is_new] = dependencies_.emplace(edge.node.get(), 0);
      found->second++;
      if (is_new) pending.push_back(edge.node.get());
    }
  }
}

void GraphTask::restrict_to(const std::vector<Edge>& outputs, const intrusive_ptr<Node>& root) {
  captured_.resize(outputs.size());
  for (size_t place = 0; place < outputs.size(); place++) {
    const Edge& edge = outputs[place];
    Wanted& wanted = wanted_[edge.node.get()];
    if (options_.accumulate) {
      wanted.is_needed = true;
    } else {
      wanted.captures.push_back({edge.input_nr, place});
    }
  }
  // A node is needed if it leads to an output. The walk in depth finishes each node after those
  // that it leads to.
  struct Frame {
    Node* node;
    size_t next = 0;
  };
  std::vector<Frame> stack{{root.get()}};
  std::unordered_set<const Node*> seen{root.get()};
  while (!stack.empty()) {
    Node* node = stack.back().node;
    std::span<const Edge> edges = node->next_edges();
    if (size_t i = stack.back().next++; i < edges.size()) {
      Node* next = edges[i].node.get();
      if (next != nullptr && seen.insert(next).second) stack.push_back({next});
      continue;
    }
    bool leads_to_output = false;
    for (const Edge& edge : edges) leads_to_output |= wanted_.contains(edge.node.get());
    if (leads_to_output) wanted_[node].is_needed = true;
    stack.pop_back();
  }
}

bool GraphTask::needs(const Node* node) const {
  if (wanted_.empty()) return true;
  auto found = wanted_.find(node);
  return found != wanted_.end() && found->second.is_needed;
}

std::span<const GraphTask::Capture> GraphTask::captures_of(const Node* node) const {
  auto found = wanted_.find(node);
  if (found == wanted_.end()) return {};
  return found->second.captures;
}

void GraphTask::push(NodeTask task) {
  ready_.push_back(std::move(task));
  std::push_heap(ready_.begin(), ready_.end(), Later{});
}

NodeTask GraphTask::pop() {
  std::pop_heap(ready_.begin(), ready_.end(), Later{});
  NodeTask task = std::move(ready_.back());
  ready_.pop_back();
  return task;
}

void GraphTask::deliver(const Edge& edge, TensorPtr gradient) {
  Node* node = edge.node.get();
  auto dependency = dependencies_.find(node);
  SLOTCORE_CHECK(dependency != dependencies_.end() && dependency->second > 0);
  bool is_last = --dependency->second == 0;
  auto known = not_ready_.find(node);
  if (known == not_ready_.end()) {
    bool is_unwanted = !needs(node) && captures_of(node).empty();
    if (is_unwanted) return;
    known = not_ready_.emplace(node, InputBuffer(node->inputs().size())).first;
  }
  known->second.add(edge.input_nr, std::move(gradient));
  if (!is_last) return;
  push({edge.node, known->second.take()});
  not_ready_.erase(known);
}

}  // namespace slotcore::autograd
