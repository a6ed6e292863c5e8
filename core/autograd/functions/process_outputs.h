// What the tensors that a custom Function returns become: results of its node.
#pragma once

#include <unordered_set>
#include <vector>

#include "core/autograd/history.h"

namespace slotcore::autograd {

// What the forward of a Function says of its tensors. Only addresses are compared.
struct ForwardMarks {
  std::vector<const TensorImpl*> inputs;
  std::unordered_set<const TensorImpl*> dirty;               // written in place
  std::unordered_set<const TensorImpl*> non_differentiable;  // results without a gradient
};

// Replaces each tensor of `outputs` by what the caller of the Function gets; null stands for a
// result that is no tensor. Each becomes the input of `node` with the same number. If `node` is not
// recorded (it has no edges), results require no gradient.
//   - An input that was not written is returned as a view of it; if it gets no history, as an
//   alias.
//   - An input that was written gets the history of an in-place operation.
//   - A result that is a view must not be written in place any more.
// Throws runtime_error if a dirty tensor is not among the results, or must not be written: a leaf
// that requires a gradient, or a view, unless it is the first input and the only result.
void process_outputs(const intrusive_ptr<Node>& node, const ForwardMarks& marks,
                     std::vector<TensorPtr>& outputs);

}  // namespace slotcore::autograd
