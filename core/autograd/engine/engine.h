// The engine: runs a graph backwards from some roots.
#pragma once

#include "core/autograd/engine/graph_task.h"

namespace slotcore::autograd {

// Computes the gradients of `roots`, whose own gradients are `gradients`, and adds them to the
// `.grad` of leaves. If `outputs` has edges, only nodes that lead to them run: the result is their
// gradients, null for an edge that is not reached, and no `.grad` changes; or with
// BackwardOptions::accumulate their nodes run too, and the result has no meaning. Needs no GIL.
// Rethrows what a node or a hook throws; the rest of the graph is then not run. Throws
// runtime_error for gradients that do not fit.
Gradients run_backward(const std::vector<Edge>& roots, Gradients gradients, BackwardOptions options,
                       const std::vector<Edge>& outputs = {});

}  // namespace slotcore::autograd
