// The order of tasks.

#include "core/autograd/engine/node_task.h"

#include <algorithm>

#include "core/autograd/engine/graph_task.h"
#include "core/c10/live_counts.h"

namespace slotcore::autograd {
namespace {

bool is_later(const NodeTask& a, const NodeTask& b) noexcept {
  if (a.graph->depth() != b.graph->depth()) return a.graph->depth() < b.graph->depth();
  return a.node->sequence_nr() < b.node->sequence_nr();
}

}  // namespace

NodeTasks::~NodeTasks() {
  for (size_t i = 0; i < heap_.size(); i++) queued_node_tasks.remove();
}

void NodeTasks::push(NodeTask task) {
  queued_node_tasks.add();
  heap_.push_back(std::move(task));
  std::push_heap(heap_.begin(), heap_.end(), &is_later);
}

NodeTask NodeTasks::pop() {
  queued_node_tasks.remove();
  std::pop_heap(heap_.begin(), heap_.end(), &is_later);
  NodeTask task = std::move(heap_.back());
  heap_.pop_back();
  return task;
}

}  // namespace slotcore::autograd
