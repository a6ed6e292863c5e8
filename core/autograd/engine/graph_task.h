// GraphTask: one call of backward. It owns the queue of its caller, so that an error leaves nothing
// behind (A5c). The threads of devices run some of its nodes at the same time.
#pragma once

#include <exception>
#include <mutex>
#include <unordered_map>

#include "core/autograd/engine/node_task.h"
#include "core/c10/impl/protocol/completion.h"

namespace slotcore::autograd {

// What a backward is asked to do.
struct BackwardOptions {
  bool keep_graph = false;    // do not free what nodes have saved
  bool create_graph = false;  // record the computation of the gradients too
  bool accumulate = true;     // with outputs: run their nodes too, instead of capturing gradients
};

class GraphTask {
 public:
  // `device` is the one whose thread makes this, or kNoDevice. Such a thread goes on serving its
  // device: other threads may wait for what is in that queue, and this backward for them. Backwards
  // inside of `depth` - 1 others come first in a queue.
  GraphTask(BackwardOptions options, int depth, int device);
  ~GraphTask();
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;

  // Counts the edges that lead to each node, from `root` on. Without a stack, because a graph may
  // be a million nodes deep (P6).
  void count_dependencies(const intrusive_ptr<Node>& root);
  // Restricts the run to nodes that lead to `outputs`, which are captured or run too. Call it after
  // count_dependencies().
  void restrict_to(const std::vector<Edge>& outputs, const intrusive_ptr<Node>& root);

  const BackwardOptions& options() const noexcept { return options_; }
  int depth() const noexcept { return depth_; }
  bool needs(const Node* node) const;
  // The places of `captured` that want the gradient of an input of `node`.
  struct Capture {
    uint32_t input_nr;
    size_t place;
  };
  std::span<const Capture> captures_of(const Node* node) const;
  void set_captured(size_t place, TensorPtr gradient);

  // Adds a task to the queue of its node's device, or else of the caller.
  void push(NodeTask task);
  // A gradient for an edge of a node that ran; null counts as arrived. Pushes the node when it was
  // the last one.
  void deliver(const Edge& edge, TensorPtr gradient);
  // Keeps the first error: the tasks that have not begun are skipped.
  void fail(std::exception_ptr error) noexcept;
  bool has_failed() const noexcept { return completion_.has_failed(); }
  void end_task() noexcept { completion_.end_task(); }

  // For the thread that called backward: the next task of its queue, which may belong to another
  // backward; nothing when all tasks of this one have ended.
  std::optional<NodeTask> next() noexcept { return completion_.pop(); }
  // After that: throws the first error, or returns the captured gradients.
  Gradients result();

 private:
  struct Wanted {
    bool is_needed = false;
    std::vector<Capture> captures;
  };

  const BackwardOptions options_;
  const int depth_;
  std::unordered_map<const Node*, Wanted> wanted_;  // empty: all nodes are needed
  TaskQueue own_queue_;
  TaskQueue& callers_queue_;  // own_queue_, or that of the device whose thread called
  impl::protocol::Completion<impl::protocol::StdPolicy, NodeTasks, std::exception_ptr> completion_;

  // Guards the members below, but never a sum or a release: Note [No lock around user code].
  std::mutex mutex_;
  std::unordered_map<Node*, int64_t> dependencies_;
  std::unordered_map<Node*, Gradients> not_ready_;  // the sums of what has arrived
  Gradients captured_;
};

}  // namespace slotcore::autograd
