// What a graph node answers in Python, whether a wrapper or a ctx stands for it. All functions need
// the GIL and throw PythonErrorSet.
#pragma once

#include "core/autograd/node.h"
#include "core/python/runtime/module_state.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

// A tuple of pairs: the node that gets a gradient of this one, or None, and the number of its
// input.
PyRef next_functions_of(ModuleState* state, const autograd::Node& node);
// Adds a hook that runs after the node, or before it; returns its handle.
PyRef add_post_hook(ModuleState* state, autograd::Node& node, PyObject* callable);
PyRef add_pre_hook(ModuleState* state, autograd::Node& node, PyObject* callable);
// The dict in which users keep what they like with the node; made at the first call.
PyRef metadata_of(ModuleState* state, autograd::Node& node);
// Calls Node::release_objects() for each node that the edges of `root` lead to, and for `root`; it
// may be null.
void release_objects_of_graph(intrusive_ptr<autograd::Node> root);

}  // namespace slotcore::python
