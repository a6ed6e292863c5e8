// Edges and hooks of a node.

#include "core/python/autograd/node_attributes.h"

#include "core/python/autograd/node_wrapper.h"
#include "core/python/autograd/python_hook.h"

namespace slotcore::python {
namespace {

template <class Hook, class Add>
PyRef with_hook(ModuleState* state, PyObject* callable, Add add) {
  PyRef dict = PyRef::steal(checked(PyODict_New()));
  PyRef handle = add_hook(state, dict.get(), callable);
  add(std::make_shared<Hook>(state->interpreter, dict.get()));
  return handle;
}

}  // namespace

PyRef next_functions_of(ModuleState* state, const autograd::Node& node) {
  std::span<const autograd::Edge> known = node.next_edges();
  // A copy: wrapping may run the collector, and so user code.
  std::vector<autograd::Edge> edges(known.begin(), known.end());
  PyRef tuple = PyRef::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(edges.size()))));
  for (size_t i = 0; i < edges.size(); i++) {
    PyRef next = wrap_node(state, edges[i].node);
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                     checked(Py_BuildValue("(OI)", next.get(), edges[i].input_nr)));
  }
  return tuple;
}

PyRef add_post_hook(ModuleState* state, autograd::Node& node, PyObject* callable) {
  return with_hook<NodePostHook>(state, callable,
                                 [&](auto hook) { node.add_hook_after(std::move(hook)); });
}

PyRef add_pre_hook(ModuleState* state, autograd::Node& node, PyObject* callable) {
  return with_hook<NodePreHook>(state, callable,
                                [&](auto hook) { node.add_hook_before(std::move(hook)); });
}

}  // namespace slotcore::python
