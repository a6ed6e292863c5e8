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

// Throws runtime_error when a gradient has other sizes, another type or another place than the
// input of `node` that it is for: a hook gave it (A3d), or a Function or a hook changed in place
// what other nodes get, too.
void check_inputs(const Node& node, const Gradients& gradients);

}  // namespace slotcore::autograd
