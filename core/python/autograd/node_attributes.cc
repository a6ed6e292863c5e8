// Edges, hooks and metadata of a node.

#include "core/python/autograd/node_attributes.h"

#include <unordered_set>

#include "core/python/autograd/node_wrapper.h"
#include "core/python/autograd/python_hook.h"
#include "core/python/preserve/owned_object.h"

namespace slotcore::python {
namespace {

class MetadataDict final : public autograd::NodeMetadata {
 public:
  MetadataDict(Interpreter* interpreter, PyObject* dict) noexcept : dict_(interpreter, dict) {}
  PyObject* python_object() const noexcept override { return dict_.get(); }

 private:
  OwnedObject dict_;
};

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

PyRef metadata_of(ModuleState* state, autograd::Node& node) {
  auto known = node.metadata();
  if (!known) {
    PyRef dict = PyRef::steal(checked(PyDict_New()));
    known = node.set_metadata_once(std::make_shared<MetadataDict>(state->interpreter, dict.get()));
  }
  return PyRef::borrow(known->python_object());
}

PyRef add_post_hook(ModuleState* state, autograd::Node& node, PyObject* callable) {
  return with_hook<NodePostHook>(state, callable,
                                 [&](auto hook) { node.add_hook_after(std::move(hook)); });
}

PyRef add_pre_hook(ModuleState* state, autograd::Node& node, PyObject* callable) {
  return with_hook<NodePreHook>(state, callable,
                                [&](auto hook) { node.add_hook_before(std::move(hook)); });
}

void release_objects_of_graph(intrusive_ptr<autograd::Node> root) {
  std::vector<intrusive_ptr<autograd::Node>> nodes;
  std::unordered_set<const autograd::Node*> met;
  auto meet = [&](const intrusive_ptr<autograd::Node>& node) {
    if (node && met.insert(node.get()).second) nodes.push_back(node);
  };
  meet(root);
  // The list grows while it is read.
  for (size_t i = 0; i < nodes.size(); i++) {
    auto node = nodes[i];
    for (const autograd::Edge& edge : node->next_edges()) meet(edge.node);
  }
  for (const auto& node : nodes) node->release_objects();
}

}  // namespace slotcore::python
