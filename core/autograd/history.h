// Where a tensor comes from: its place in the graph, and how operations change that.
//
// Note [Views and in-place operations]
// Writing a view also changes its base. So the history of the base gets a CopySlices node, and
// every view of it is stale: its grad_fn belongs to the elements before the write. A view remembers
// the version at which its grad_fn was right (TensorImpl::view_version), and grad_fn() makes a
// stale view a new node, which leads to the base. The field must therefore be read through
// grad_fn(), except where no node may be made: in destructors and for the collector.
#pragma once

#include "core/autograd/autograd_meta.h"

namespace slotcore::autograd {

// The node that computed the tensor, or null for a leaf. Throws runtime_error for a view that a
// custom Function returned, when the elements were written since.
intrusive_ptr<Node> grad_fn(TensorImpl& tensor);
// The same, but of a stale view the node that it had before the write.
intrusive_ptr<Node> former_grad_fn(const TensorImpl& tensor);
bool is_leaf(TensorImpl& tensor);
// The number of the tensor among the results of its node; 0 for a leaf. Makes no node for a stale
// view: a new node has one result, and so has each former one that can be made anew.
uint32_t output_nr(const TensorImpl& tensor);
// The same, but makes no node for a stale view, and a stale result of a custom Function is no leaf
// instead of an error.
bool is_leaf_unchanged(const TensorImpl& tensor);
// Gives a new tensor its flags, and unless it is a leaf, a node that stands for an unknown history:
// it passes no gradient on.
void set_flags(TensorImpl& tensor, bool requires_grad, bool is_leaf, CreationMeta meta);
// The node's input that takes the gradient of this tensor: of grad_fn(), or of the AccumulateGrad
// of a leaf. Without a node if the tensor requires no gradient.
Edge gradient_edge(TensorImpl& tensor);
// Whether that edge has a node. A view from before its base required a gradient requires one too,
// but no gradient goes through it.
bool takes_gradient(TensorImpl& tensor);
// The node that adds to the `.grad` of a leaf. A leaf has at most one at a time, which lives as
// long as a graph or the caller owns it (A1c). Null if the tensor requires no gradient.
intrusive_ptr<Node> grad_accumulator(TensorImpl& leaf);

// The same if the leaf has one now; else null.
intrusive_ptr<Node> existing_accumulator(const TensorImpl& leaf);

// Marks a leaf. Throws runtime_error when the type has no gradients.
void set_requires_grad(TensorImpl& leaf, bool requires_grad);
// Sets the gradient; null removes it. Throws runtime_error if it is this tensor or does not have
// its sizes, type and place. Returns the former gradient; the caller drops it where user code may
// run.
[[nodiscard]] TensorPtr exchange_grad(TensorImpl& tensor, TensorPtr grad);
// Makes the tensor a leaf that requires no gradient. Throws runtime_error for a view.
void detach_in_place(TensorImpl& tensor);

// `node` computed `output`, a new tensor.
void set_history(TensorImpl& output, intrusive_ptr<Node> node);
// Throws runtime_error if a write of `self` cannot be recorded: before the write, so that a line
// that raises has written nothing.
void check_rebase(const TensorImpl& self);
// `node` wrote `self` in place. Its first edge leads to what `self` was before.
void rebase_history(TensorImpl& self, intrusive_ptr<Node> node);
// Throws runtime_error if `self` must not be written while gradients are recorded: a leaf that
// requires one, a view of such a leaf, or a view with a CreationMeta.
void check_in_place(TensorImpl& self);

}  // namespace slotcore::autograd
