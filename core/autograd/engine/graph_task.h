// GraphTask: one call of backward. It owns the queue of nodes that are ready to run, so that an
// error leaves nothing behind (A5c).
#pragma once

#include <queue>
#include <unordered_map>

#include "core/autograd/node.h"

namespace slotcore::autograd {

// The gradients that have arrived for a node.
class InputBuffer {
 public:
  explicit InputBuffer(size_t inputs) : gradients_(inputs) {}
  // Adds to what has arrived for the input.
  void add(uint32_t input_nr, TensorPtr gradient);
  Gradients take() { return std::move(gradients_); }

 private:
  Gradients gradients_;
};

// A node whose gradients have all arrived.
struct NodeTask {
  intrusive_ptr<Node> node;
  Gradients inputs;
};

// What a backward is asked to do.
struct BackwardOptions {
  bool keep_graph = false;    // do not free what nodes have saved
  bool create_graph = false;  // record the computation of the gradients too
  bool accumulate = true;     // with outputs: run their nodes too, instead of capturing gradients
};

class GraphTask {
 public:
  explicit GraphTask(BackwardOptions options);
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
  bool needs(const Node* node) const;
  // The places of `captured` that want the gradient of an input of `node`.
  struct Capture {
    uint32_t input_nr;
    size_t place;
  };
  std::span<const Capture> captures_of(const Node* node) const;
  void set_captured(size_t place, TensorPtr gradient) { captured_[place] = std::move(gradient); }
  Gradients take_captured() { return std::move(captured_); }

  void push(NodeTask task);
  bool is_done() const noexcept { return ready_.empty(); }
  NodeTask pop();
  // A gradient for an edge of a node that ran; null counts as arrived. Pushes the node when it was
  // the last one.
  void deliver(const Edge& edge, TensorPtr gradient);

 private:
  // Nodes with a higher sequence number come first: they were made later, so what they lead to
  // comes after them.
  struct Later {
    bool operator()(const NodeTask& a, const NodeTask& b) const noexcept {
      return a.node->sequence_nr() < b.node->sequence_nr();
    }
  };
  struct Wanted {
    bool is_needed = false;
    std::vector<Capture> captures;
  };

  BackwardOptions options_;
  std::unordered_map<Node*, int64_t> dependencies_;
  std::unordered_map<Node*, InputBuffer> not_ready_;
  std::unordered_map<const Node*, Wanted> wanted_;  // empty: all nodes are needed
  Gradients captured_;
  std::vector<NodeTask> ready_;  // a heap by Later
};

}  // namespace slotcore::autograd
