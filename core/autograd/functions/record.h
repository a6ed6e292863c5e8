// Whether an operation is recorded, and the edges of its node.
#pragma once

#include <initializer_list>

#include "core/autograd/history.h"

namespace slotcore::autograd {

// Whether this thread records, and one of the inputs requires a gradient.
bool is_recorded(std::initializer_list<const TensorImpl*> inputs) noexcept;
// One edge for each input.
std::vector<Edge> edges_to(std::initializer_list<TensorImpl*> inputs);

// Records that `node` computed `result` from `inputs`, if that is to be recorded and `result` has a
// type with gradients. `make` returns the node, without edges.
template <class Make>
TensorPtr recorded(TensorPtr result, std::initializer_list<TensorImpl*> inputs, Make make) {
  bool is_wanted = false;
  for (const TensorImpl* input : inputs) is_wanted = is_wanted || is_recorded({input});
  if (!is_wanted || !is_differentiable(result->type())) return result;
  auto node = make();
  node->set_next_edges(edges_to(inputs));
  set_history(*result, std::move(node));
  return result;
}

}  // namespace slotcore::autograd
