// What a user puts on a tensor's gradient: hooks, and the wish to keep it.
#pragma once

#include "core/autograd/history.h"

namespace slotcore::autograd {

// Adds a hook on the gradient of a tensor that requires one: in the leaf's own list, or in its
// node, where it stays if an in-place operation gives the tensor another node (A3g).
void add_hook(TensorImpl& tensor, std::shared_ptr<FunctionPreHook> hook);
// The hooks of the tensor as it is now.
std::vector<std::shared_ptr<FunctionPreHook>> hooks_of(TensorImpl& tensor);
// Removes the hooks of a leaf. The caller drops them where user code may run.
[[nodiscard]] std::vector<std::shared_ptr<FunctionPreHook>> take_leaf_hooks(TensorImpl& tensor);

// From now on a backward sets the `.grad` of a tensor that is not a leaf, too. The wish stays with
// the tensor when an in-place operation gives it another node.
void retain_grad(TensorImpl& tensor);
bool retains_grad(const TensorImpl& tensor);

}  // namespace slotcore::autograd
