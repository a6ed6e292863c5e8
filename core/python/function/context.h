// FunctionContext: the Python object of one call of a custom Function, known as ctx.
//
// Note [The node owns ctx]
//   PyNode ══▶ ctx          one strong reference, released with the node (A1)
//   ctx ──weak──▶ PyNode    null before apply(), and after the death of the node
//   ctx ══▶ what forward has saved
// So ctx is the `grad_fn` of the results in Python, but does not keep the node. Everything that
// needs the node locks the weak reference first, and raises when the node is gone (A1b). A ctx is
// an ordinary Python object: its slots are CPython's, and the collector finds the node's reference
// to it through the wrapper that alone owns the node (walk.h).
#pragma once

#include <Python.h>

#include <vector>

#include "core/autograd/saved/saved_variable.h"
#include "core/python/preserve/interpreter.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

// The C++ part of a ctx.
struct ContextParts {
  weak_intrusive_ptr<autograd::Node> node{intrusive_ptr<autograd::Node>()};
  std::vector<autograd::SavedVariable> saved;
  // Owners of the node at the collector's last visit; see context_refuses_clear().
  uint32_t owners_traversed = 0;
  uint64_t walk = 0;  // Note [What a walk follows]
};

struct FunctionContext {
  PyObject_HEAD Interpreter* interpreter;  // never freed
  ContextParts* parts;                     // null while the object is being made or freed
  // What forward leaves here, as Python objects; null for none.
  PyObject* to_save;
  PyObject* dirty_tensors;
  PyObject* non_differentiable;
  PyObject* saved_for_forward;
  PyObject* needs_input_grad;
  bool materialize_grads;  // backward gets zeros, and not None, for a missing gradient
  bool requires_grad;      // the call was recorded
  bool is_released;        // a backward has freed what was saved (A2a)
  bool is_legacy;          // an instance of the Function itself, not of its `_backward_cls`
};

inline FunctionContext* as_context(PyObject* object) noexcept {
  return reinterpret_cast<FunctionContext*>(object);
}

// The base class of every ctx, `_FunctionBase`. Throws PythonErrorSet.
PyRef make_context_type(PyObject* module);

// The node of ctx. Throws PythonErrorSet when ctx has none; `what` names what needs the node.
intrusive_ptr<autograd::Node> node_of(FunctionContext* context, const char* what);

// The same, or null without a node.
intrusive_ptr<autograd::Node> lock_node(FunctionContext* context);

// Frees what forward has saved (A2a). Needs the GIL; runs user code.
void release_saved(FunctionContext* context) noexcept;

// context_attributes.cc
extern PyMethodDef context_methods[];
extern PyGetSetDef context_properties[];

}  // namespace slotcore::python
