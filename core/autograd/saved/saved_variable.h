// SavedVariable: a tensor that a node keeps for its backward, without a cycle of owners, and with
// the checks of A2.
#pragma once

#include "core/autograd/autograd_meta.h"
#include "core/autograd/saved/saved_tensor_hooks.h"

namespace slotcore::autograd {

class SavedVariable {
 public:
  // What it keeps: the tensor, or what a pack hook has made of it and its place in the graph.
  struct Owned {
    TensorPtr data;
    std::shared_ptr<const PackedTensor> packed;
    intrusive_ptr<Node> history;  // its grad_fn, or the AccumulateGrad of a leaf

    explicit operator bool() const noexcept { return data || packed; }
  };

  SavedVariable() noexcept = default;
  // `is_output` says that the node which saves the tensor also computed it, so that it must not own
  // the tensor itself: the tensor owns the node. Then it keeps an alias without history.
  // An in-place result on a view has another grad_fn than that node; it is kept weakly.
  //
  // Packs the tensor if the thread has hooks for that. Throws what the hook raises, and
  // runtime_error if it writes the tensor. The hook may run any code: call this without a lock.
  SavedVariable(TensorImpl& tensor, bool is_output, bool is_in_place_on_view = false);
  // The same for a tensor whose elements the operation is about to write by its base or by another
  // view of it. Each use is an error then (A2b), unless a hook packs the tensor. So an alias is
  // kept: the tensor would own the node, by the history of its base.
  static SavedVariable of_overwritten(TensorImpl& tensor);
  SavedVariable(const SavedVariable& other);
  SavedVariable(SavedVariable&& other) noexcept;
  SavedVariable& operator=(SavedVariable other) noexcept;
  ~SavedVariable();

  // The tensor: the very one that was saved, or one that stands for it in the graph. `saved_for` is
  // the node that saves it. Throws runtime_error when it was released, or written or detached in
  // place since (A2), and what an unpack hook raises. It may drop a node or call a hook, and so run
  // user code that releases the owner's variable: call it on a copy, and without a lock.
  TensorPtr unpack(intrusive_ptr<Node> saved_for) const;
  // What it kept; the caller drops that outside of locks.
  [[nodiscard]] Owned release() noexcept { return std::exchange(fields_.owned, {}); }
  bool is_packed() const noexcept { return static_cast<bool>(fields_.owned.packed); }
  // Tells the trace what it keeps, for the node or ctx that keeps this.
  void trace_owned(const void* owner) const noexcept;
  // Visits each strong reference, for the collector.
  void visit_owned(OwnedVisitor& visitor) const;

 private:
  struct Fields {
    Owned owned;
    weak_intrusive_ptr<Node> weak_grad_fn{intrusive_ptr<Node>()};
    uint32_t version = 0;
    uint32_t output_nr = 0;
    bool is_original = false;
    bool is_leaf = true;
    bool requires_grad = false;
    bool is_in_place_on_view = false;
  };

  void pack(TensorImpl& tensor);
  // The node that the tensor leads to in the graph; null for one that requires no gradient.
  intrusive_ptr<Node> grad_fn_of_saved(intrusive_ptr<Node> saved_for) const;
  TensorPtr unpack_by_hook(intrusive_ptr<Node> saved_for) const;

  Fields fields_;
  bool was_saved_ = false;
};

// Tells the trace that a node or ctx has released what it saved.
void trace_released(const void* owner) noexcept;

}  // namespace slotcore::autograd
