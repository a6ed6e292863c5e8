// Graph nodes in Python. The wrapper of a node is kept by its slot like that of a tensor (P1, P2).
// As in torch, it has neither `__dict__` nor weak references.
#pragma once

#include "core/autograd/node.h"
#include "core/python/runtime/module_state.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

// The base class of all nodes; it cannot be created. Throws PythonErrorSet.
PyRef make_node_type(PyObject* module);

// The wrapper of a node, or None for null: of a class with the name of the node. The node of a
// custom Function has its ctx in the place of a wrapper. Throws
// PythonErrorSet, and ForeignInterpreterError if the node belongs to another interpreter (T2).
PyRef wrap_node(ModuleState* state, intrusive_ptr<autograd::Node> node);

}  // namespace slotcore::python
