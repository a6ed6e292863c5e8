// Custom Functions: the class that users derive from, and the call that runs a forward.
#pragma once

#include <Python.h>

#include <functional>

#include "core/python/function/context.h"
#include "core/python/runtime/module_state.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

// function_class.cc. Adds Function, and its base classes, to the submodule autograd. Throws
// PythonErrorSet.
void add_function(PyObject* module, PyObject* autograd);

// run_forward.cc. Runs `forward(args)` as the call of a Function with this ctx, and returns what
// the caller gets: results that own the node, which owns ctx. Throws PythonErrorSet, and
// runtime_error for marks that contradict the results.
PyRef run_forward(ModuleState* state, FunctionContext* context, PyObject* args,
                  const std::function<PyRef(PyObject* args)>& forward);

}  // namespace slotcore::python
