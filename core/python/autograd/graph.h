// Graphs in Python: what tensors have of them, backward(), and the modes of recording. module.cc
// joins these tables with those of the Tensor type.
#pragma once

#include "core/python/autograd/node_wrapper.h"
#include "core/python/runtime/module_state.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

// tensor_graph.cc: grad_fn, hooks, retain_grad
extern PyMethodDef tensor_graph_methods[];
extern PyGetSetDef tensor_graph_properties[];

// backward.cc
extern PyMethodDef tensor_backward_methods[];
// The submodule autograd: backward(), grad(), and Node. Throws PythonErrorSet.
PyRef make_autograd(PyObject* module);

// modes.cc: no_grad, enable_grad, set_grad_enabled. Throws PythonErrorSet.
void add_modes(PyObject* module);
extern PyMethodDef mode_methods[];

// saved_hooks.cc: the submodule graph of autograd, with saved_tensors_hooks. Throws PythonErrorSet.
PyRef make_saved_hooks(PyObject* module);

// on_device.cc. Throws PythonErrorSet.
void add_on_device(PyObject* module);

}  // namespace slotcore::python
