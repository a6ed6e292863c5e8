// Dependencies, captures and tasks of a backward.

#include "core/autograd/engine/graph_task.h"

#include <unordered_set>

#include "core/autograd/current_device.h"
#include "core/autograd/engine/device_threads.h"
#include "core/autograd/functions/arithmetic.h"
#include "core/c10/check.h"
#include "core/c10/live_counts.h"

namespace slotcore::autograd {

GraphTask::GraphTask(BackwardOptions options, int depth, int device)
    : options_(options),
      depth_(depth),
      callers_queue_(device == kNoDevice ? own_queue_ : queue_of_device(device)),
      completion_(callers_queue_) {
  live_graph_tasks.add();
}

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
    // An output that nothing records has no node, as an edge to a constant has none.
    for (const Edge& edge : edges)
      leads_to_output |= edge.node && wanted_.contains(edge.node.get());
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

void GraphTask::set_captured(size_t place, TensorPtr gradient) {
  std::lock_guard lock(mutex_);
  std::swap(captured_[place], gradient);
}

void GraphTask::push(NodeTask task) {
  completion_.begin_task();
  const int device = task.node->device();
  if (device != kNoDevice && push_to_device(device, task)) return;
  callers_queue_.push(std::move(task));
}

void GraphTask::deliver(const Edge& edge, TensorPtr gradient) {
  Node* node = edge.node.get();
  bool is_wanted = needs(node) || !captures_of(node).empty();
  if (!is_wanted) return;
  Gradients inputs;
  for (;;) {
    TensorPtr known;  // dropped after the lock
    {
      std::lock_guard lock(mutex_);
      Gradients& sums = not_ready_.try_emplace(node, node->inputs().size()).first->second;
      std::swap(known, sums.at(edge.input_nr));
      if (!known || !gradient) {
        // This gradient, or the sum that was there, is all that has arrived for the input by now.
        std::swap(sums[edge.input_nr], known ? known : gradient);
        int64_t& dependencies = dependencies_.at(node);
        SLOTCORE_CHECK(dependencies > 0);
        if (--dependencies > 0) return;
        inputs = std::move(sums);
        not_ready_.erase(node);
        break;
      }
    }
    // The sum is taken out meanwhile. A gradient that comes from another thread takes its place,
    // and is added to it in the next round.
    gradient = autograd::add(Operand(*known), Operand(*gradient));
  }
  push({this, edge.node, std::move(inputs)});
}

void GraphTask::fail(std::exception_ptr error) noexcept {
  error = completion_.fail(std::move(error));  // another one is dropped here
}

Gradients GraphTask::result() {
  if (std::exception_ptr error = completion_.take_error()) std::rethrow_exception(error);
  return std::move(captured_);
}

}  // namespace slotcore::autograd
