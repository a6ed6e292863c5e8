// Edges of a node.

#include "core/autograd/functions/record.h"

#include "core/autograd/grad_mode.h"

namespace slotcore::autograd {

bool is_recorded(std::initializer_list<const TensorImpl*> inputs) noexcept {
  if (!GradMode::is_enabled()) return false;
  for (const TensorImpl* input : inputs) {
    if (input->requires_grad()) return true;
  }
  return false;
}

std::vector<Edge> edges_to(std::initializer_list<TensorImpl*> inputs) {
  std::vector<Edge> edges;
  for (TensorImpl* input : inputs) edges.push_back(gradient_edge(*input));
  return edges;
}

}  // namespace slotcore::autograd
