// Gradients as Python objects: a tensor, None for null, or a tuple of them. All need the GIL and
// throw PythonErrorSet.
#pragma once

#include "core/autograd/function_hook.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {

PyRef gradient_object(ModuleState* state, const autograd::TensorPtr& gradient);
PyRef gradient_tuple(ModuleState* state, const autograd::Gradients& gradients);
// Null for None. `what` names the object in the TypeError.
autograd::TensorPtr gradient_of(ModuleState* state, PyObject* object, const char* what);
// From a tuple, or from one object that is not a tuple.
autograd::Gradients gradients_of(ModuleState* state, PyObject* object, const char* what);

}  // namespace slotcore::python
