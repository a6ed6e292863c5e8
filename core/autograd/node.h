// Node: one operation of an autograd graph. A node owns the nodes that come next in a backward:
//
//   tensor ══grad_fn══▶ node ══next edges══▶ nodes of the inputs ══▶ AccumulateGrad ══▶ leaf
//
// A node never owns the tensor whose grad_fn it is: that would close a cycle without Python.
//
// Note [No lock around user code]
// A mutex of this folder (of a node, of a tensor's autograd data, of a graph task) is never held
// while a hook or apply() runs, while a reference is dropped, or while the count of an impl that
// may have a wrapper goes from 1 to 2 or from 2 to 1. Each of these may run Python code or wait for
// the GIL, and another thread may hold the GIL and wait for the mutex (A5).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/autograd/function_hook.h"
#include "core/c10/impl/py_object_slot.h"
#include "core/c10/shapes/sym_int.h"

namespace slotcore::autograd {

class Node;

// Leads to one input of a node. Without a node, nothing requires the gradient.
struct Edge {
  intrusive_ptr<Node> node;
  uint32_t input_nr = 0;

  Edge() noexcept;
  Edge(intrusive_ptr<Node> node, uint32_t input_nr) noexcept;
  Edge(const Edge&) noexcept;
  Edge(Edge&&) noexcept;
  Edge& operator=(Edge) noexcept;
  ~Edge();
};

// What the engine knows of a tensor that a node has made: the shape of the gradient that it takes.
struct InputMetadata {
  InputMetadata() = default;  // of no tensor
  explicit InputMetadata(const TensorImpl& tensor);

  // Decides what is symbolic: a fake for whose gradient nobody asks keeps its symbols.
  Dims sizes() const { return sym_sizes == nullptr ? plain_sizes : specialized(*sym_sizes); }
  // Whether the tensor still has this shape. Sizes that are symbols of one of the two are not
  // compared, since that would decide them.
  bool is_of(const TensorImpl& tensor) const noexcept;

  Dims plain_sizes;                          // empty with symbols
  std::shared_ptr<const SymDims> sym_sizes;  // null without symbols
  ScalarType type = ScalarType::float32;
  Place place;
};

// The hooks of a node. A copy keeps each hook alive.
struct NodeHooks {
  // Each for one input. They run first, in the order of registration.
  std::vector<std::pair<uint32_t, std::shared_ptr<FunctionPreHook>>> of_tensors;
  // Each keeps the gradient of one input as the `.grad` of its tensor.
  std::vector<std::pair<uint32_t, std::shared_ptr<FunctionPreHook>>> retaining;
  std::vector<std::shared_ptr<FunctionPreHook>> before;
  std::vector<std::shared_ptr<FunctionPostHook>> after;
};

// A dict in which users keep what they like with a node.
class NodeMetadata {
 public:
  virtual ~NodeMetadata() = default;
  virtual PyObject* python_object() const noexcept = 0;
};

// Receives what a node owns. `link` is what Python calls that, such as ".metadata".
class OwnedVisitor {
 public:
  virtual void tensor(const char* link, TensorImpl* tensor) = 0;
  virtual void node(const char* link, Node* node) = 0;
  virtual void object(const char* link, PyObject* object) = 0;

 protected:
  ~OwnedVisitor() = default;
};

class Node : public intrusive_ptr_target {
 public:
  // Its sequence number is the next one of this thread, and its device the current one.
  Node();
  ~Node() override;

  impl::PyObjectSlot* pyobj_slot() noexcept override { return &slot_; }

  // The Python object that stands for the node instead of a wrapper, borrowed: the node owns it; or
  // null.
  virtual PyObject* python_object() const noexcept { return nullptr; }
  // torch's name of the class, such as "MulBackward0".
  virtual std::string name() const = 0;
  // Computes the gradient of each edge from the gradient of each input. Throws runtime_error when
  // what it saved is freed or was changed (A2).
  virtual Gradients apply(Gradients gradients) = 0;
  // Frees what it saved, after a run of a backward that does not keep the graph (A2a). False if
  // another backward has freed it while this run used it: one of the two must fail (A5b).
  [[nodiscard]] virtual bool release_variables() noexcept { return true; }
  // Frees what hooks of the user have packed, and the metadata: for a test that breaks a cycle of
  // owners which the contract lets live on. No other thread may use the node.
  virtual void release_objects() noexcept;
  // Visits each strong reference of the node, for the collector: one call for each. Needs what the
  // collector has made sure of, that no other thread uses the node.
  virtual void visit_owned(OwnedVisitor& visitor) const;

  // Called once, before another thread can know the node.
  void set_next_edges(std::vector<Edge> edges);
  std::span<const Edge> next_edges() const noexcept;
  // Whether an input of the operation requires a gradient.
  bool needs(size_t edge) const noexcept;
  // Adds an input for the gradient of `output`, and returns its number.
  uint32_t add_input(const TensorImpl& output);
  // Adds an input that never gets a gradient.
  void add_placeholder() { inputs_.emplace_back(); }
  std::span<const InputMetadata> inputs() const noexcept { return inputs_; }

  // The engine runs nodes with a higher number first; an AccumulateGrad has the highest.
  uint64_t sequence_nr() const noexcept { return sequence_nr_; }
  // The device whose thread runs it, or kNoDevice.
  int device() const noexcept { return device_; }

  // Any thread may add a hook; the next run calls it.
  void add_hook_of_tensor(uint32_t input_nr, std::shared_ptr<FunctionPreHook> hook);
  void add_hook_before(std::shared_ptr<FunctionPreHook> hook);
  void add_hook_after(std::shared_ptr<FunctionPostHook> hook);
  // Sets the retaining hook of an input; null removes it.
  void set_retaining_hook(uint32_t input_nr, std::shared_ptr<FunctionPreHook> hook);
  std::shared_ptr<FunctionPreHook> take_retaining_hook(uint32_t input_nr);
  virtual NodeHooks hooks() const;

  // Null until it is set.
  std::shared_ptr<NodeMetadata> metadata() const;
  // Sets it, unless another thread has done so, and returns what the node has now.
  std::shared_ptr<NodeMetadata> set_metadata_once(std::shared_ptr<NodeMetadata> metadata);

 protected:
  Node(uint64_t sequence_nr, int device);
  void release_resources() noexcept override;

  // Guards what a derived node has saved, against its release on another thread.
  mutable std::mutex mutex_;

 private:
  impl::PyObjectSlot slot_;
  std::vector<Edge> next_edges_;
  std::vector<InputMetadata> inputs_;
  std::unique_ptr<NodeHooks> hooks_;        // null without hooks; guarded by mutex_
  std::shared_ptr<NodeMetadata> metadata_;  // guarded by mutex_
  uint64_t sequence_nr_;
  int device_;
};

}  // namespace slotcore::autograd
