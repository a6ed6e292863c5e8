// SavedVariable: a tensor that a node keeps for its backward, without a cycle of owners, and with
// the checks of A2.
#pragma once

#include "core/autograd/autograd_meta.h"

namespace slotcore::autograd {

class SavedVariable {
 public:
  SavedVariable() noexcept = default;
  // `is_output` says that the node which saves the tensor also computed it, so that it must not own
  // the tensor itself: the tensor owns the node. Then it keeps an alias without history.
  // An in-place result on a view has another grad_fn than that node; it is kept weakly.
  SavedVariable(TensorImpl& tensor, bool is_output, bool is_in_place_on_view = false);
  SavedVariable(const SavedVariable& other) noexcept;
  SavedVariable(SavedVariable&& other) noexcept;
  SavedVariable& operator=(SavedVariable other) noexcept;
  ~SavedVariable();

  // The tensor: the very one that was saved, or one that stands for it in the graph. `saved_for` is
  // the node that saves it. Throws runtime_error when it was released, or written or detached in
  // place since (A2). It may drop a node, and so run user code that releases the owner's variable:
  // call it on a copy, and without a lock.
  TensorPtr unpack(intrusive_ptr<Node> saved_for) const;
  // What the node owns; the caller drops it outside of locks.
  [[nodiscard]] TensorPtr release() noexcept { return std::move(data_); }
  const TensorPtr& data() const noexcept { return data_; }

 private:
  TensorPtr data_;
  weak_intrusive_ptr<Node> weak_grad_fn_{intrusive_ptr<Node>()};
  uint32_t version_ = 0;
  uint32_t output_nr_ = 0;
  bool was_saved_ = false;
  bool is_original_ = false;
  bool is_leaf_ = true;
  bool is_in_place_on_view_ = false;
};

}  // namespace slotcore::autograd
