// NodeTask: a node whose gradients have all arrived, and the order in which tasks run.
#pragma once

#include "core/autograd/node.h"
#include "core/c10/impl/protocol/ready_queue.h"

namespace slotcore::autograd {

class GraphTask;

struct NodeTask {
  // Borrowed: the owner of a GraphTask waits until each task of it has ended.
  GraphTask* graph;
  intrusive_ptr<Node> node;
  Gradients inputs;
};

// Tasks of one or of several backwards. First come those of nested backwards, for which other tasks
// wait, and then nodes with a higher sequence number: they were made later, so what they lead to
// comes after them.
class NodeTasks {
 public:
  using value_type = NodeTask;

  NodeTasks() = default;
  ~NodeTasks();
  NodeTasks(const NodeTasks&) = delete;
  NodeTasks& operator=(const NodeTasks&) = delete;

  void push(NodeTask task);
  NodeTask pop();
  bool empty() const noexcept { return heap_.empty(); }

 private:
  std::vector<NodeTask> heap_;
};

using TaskQueue = impl::protocol::ReadyQueue<impl::protocol::StdPolicy, NodeTasks>;

}  // namespace slotcore::autograd
