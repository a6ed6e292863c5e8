// Gradients are checked before they move on.

#include "core/autograd/engine/validate.h"

#include <stdexcept>

#include "core/autograd/functions/arithmetic.h"
#include "core/autograd/functions/view.h"

namespace slotcore::autograd {
namespace {

bool expands_to(const Dims& sizes, const Dims& wanted) {
  if (sizes.size() > wanted.size()) return false;
  for (size_t i = 0; i < sizes.size(); i++) {
    int64_t size = sizes[i], other = wanted[wanted.size() - sizes.size() + i];
    if (size != 1 && size != other) return false;
  }
  return true;
}

}  // namespace

TensorPtr validated(const InputMetadata& expected, TensorPtr gradient) {
  if (gradient->place() != expected.place) {
    throw std::runtime_error("a gradient on " + gradient->place().text() +
                             " does not fit a tensor on " + expected.place.text());
  }
  if (Dims wanted = expected.sizes(); gradient->sizes() != wanted) {
    if (!expands_to(wanted, gradient->sizes())) {
      throw std::runtime_error("a gradient of the size " + text(gradient->sizes()) +
                               " does not fit a tensor of the size " + text(wanted));
    }
    gradient = sum_to(*gradient, wanted);
  }
  if (gradient->type() != expected.type) gradient = to_type(*gradient, expected.type);
  return gradient;
}

void check_inputs(const Node& node, const Gradients& gradients) {
  std::span<const InputMetadata> expected = node.inputs();
  for (size_t i = 0; i < gradients.size() && i < expected.size(); i++) {
    if (!gradients[i] || expected[i].is_of(*gradients[i])) continue;
    throw std::runtime_error(
        "a gradient of size " + text(gradients[i]->sizes()) + ", type " +
        name_of(gradients[i]->type()) + " and place " + gradients[i]->place().text() +
        " does not fit a tensor of size " + text(expected[i].sizes()) + ", type " +
        name_of(expected[i].type) + " and place " + expected[i].place.text() +
        ": a hook gave it, or something changed it in place");
  }
}

void validate_outputs(const Node& node, Gradients& gradients) {
  std::span<const Edge> edges = node.next_edges();
  if (gradients.size() < edges.size()) {
    throw std::runtime_error(node.name() + " returned " + std::to_string(gradients.size()) +
                             " gradients, and " + std::to_string(edges.size()) + " were expected");
  }
  for (size_t i = 0; i < edges.size(); i++) {
    if (!gradients[i] || !edges[i].node) continue;
    gradients[i] = validated(edges[i].node->inputs()[edges[i].input_nr], std::move(gradients[i]));
  }
}

}  // namespace slotcore::autograd
