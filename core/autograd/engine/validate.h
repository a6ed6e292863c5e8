// What the engine makes of the gradients that a node returns.
#pragma once

#include "core/autograd/node.h"

namespace slotcore::autograd {

// Gives each gradient the sizes and type that its edge expects: sums it over repeated dimensions,
// and converts it. Throws runtime_error when `node` returned fewer gradients than it has edges, or
// one whose sizes do not expand to what is expected, or one on another device.
void validate_outputs(const Node& node, Gradients& gradients);
// The same for one gradient and what the root of a backward expects.
TensorPtr validated(const InputMetadata& expected, TensorPtr gradient);

// Throws runtime_error when a hook has replaced the gradient of an input of `node` by one of other
// sizes, another dtype or on another device (A3d).
void check_replaced(const Node& node, size_t input, const TensorPtr& gradient);

}  // namespace slotcore::autograd
