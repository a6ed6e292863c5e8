// The classes of nodes: one for each name, made when the first node of that name is wrapped.

#include "core/python/autograd/node_wrapper.h"

#include "core/autograd/accumulate_grad.h"
#include "core/python/autograd/node_attributes.h"
#include "core/python/autograd/owned_rows.h"
#include "core/python/tensor/tensor.h"
#include "core/python/tensor/walk.h"

namespace slotcore::python {
namespace {

using autograd::Node;

Node& self_node(PyObject* self) { return *impl_of<Node>(self); }

PyObject* node_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError, "%s cannot be created", type->tp_name);
  return nullptr;
}

int node_traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  if (int stop = preserve::traverse(self, &node_traverse, visit, arg); stop != 0) return stop;
  Wrapper* wrapper = as_wrapper(self);
  if (!preserve::owns_for(wrapper, visit)) return 0;
  Walk walk(wrapper->interpreter, &wrapper->walk, visit, arg);
  walk.from(static_cast<Node*>(wrapper->impl));
  return walk.run();
}

PyObject* name(PyObject* self, PyObject*) {
  return guarded([&] { return checked(PyUnicode_FromString(self_node(self).name().c_str())); });
}

PyObject* next_functions(PyObject* self, void*) {
  return guarded(
      [&] { return next_functions_of(state_of_wrapper(self), self_node(self)).release(); });
}

PyObject* variable(PyObject* self, void*) {
  return guarded([&] {
    auto* accumulator = dynamic_cast<autograd::AccumulateGrad*>(&self_node(self));
    if (accumulator == nullptr)
      throw_python(PyExc_AttributeError, "%s has no variable", Py_TYPE(self)->tp_name);
    return wrap_tensor(state_of_wrapper(self), accumulator->leaf());
  });
}

PyObject* node_register_hook(PyObject* self, PyObject* callable) {
  return guarded(
      [&] { return add_post_hook(state_of_wrapper(self), self_node(self), callable).release(); });
}

PyObject* register_prehook(PyObject* self, PyObject* callable) {
  return guarded(
      [&] { return add_pre_hook(state_of_wrapper(self), self_node(self), callable).release(); });
}

PyObject* sequence_nr(PyObject* self, PyObject*) {
  return guarded(
      [&] { return checked(PyLong_FromUnsignedLongLong(self_node(self).sequence_nr())); });
}

PyObject* use_count(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromUnsignedLong(raw::use_count(&self_node(self))); });
}

PyObject* node_owned_by_cpp(PyObject* self, PyObject*) {
  return guarded([&] {
    Node& node = self_node(self);
    ReferenceRows rows;
    rows.add_impl_of(self, node.name().c_str());
    add_links(rows, self, autograd::owned_links(node));
    return rows.take().release();
  });
}

PyObject* node_release_objects(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    release_objects_of_graph(intrusive_ptr<Node>::retain(&self_node(self)));
    Py_RETURN_NONE;
  });
}

PyObject* metadata(PyObject* self, void*) {
  return guarded([&] { return metadata_of(state_of_wrapper(self), self_node(self)).release(); });
}

PyObject* get_cdata(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromVoidPtr(&self_node(self)); });
}

PyMethodDef methods[] = {
    {"name", &name, METH_NOARGS, "name() -> str: the operation, such as \"MulBackward0\"."},
    {"register_hook", &node_register_hook, METH_O,
     "register_hook(hook) -> RemovableHandle. hook(grad_inputs, grad_outputs) is called after the\n"
     "node has run, and returns None or what replaces grad_inputs."},
    {"register_prehook", &register_prehook, METH_O,
     "register_prehook(hook) -> RemovableHandle. hook(grad_outputs) is called before the node\n"
     "runs, and returns None or what replaces grad_outputs."},
    {"_sequence_nr", &sequence_nr, METH_NOARGS, "_sequence_nr() -> int: later nodes run first."},
    {"_use_count", &use_count, METH_NOARGS,
     "_use_count() -> int: strong references of the node, the wrapper's included."},
    {"_owned_by_cpp", &node_owned_by_cpp, METH_NOARGS,
     "_owned_by_cpp() -> list: as for tensors, what the node owns in C++."},
    {"_release_objects", &node_release_objects, METH_NOARGS,
     "_release_objects(): as for tensors, frees Python objects of the graph."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"next_functions", &next_functions, nullptr,
     "A tuple of pairs: the node that gets a gradient of this one, or None, and its input.",
     nullptr},
    {"metadata", &metadata, nullptr, "A dict for what users keep with the node.", nullptr},
    {"variable", &variable, nullptr,
     "The leaf of an AccumulateGrad. AttributeError for other nodes.", nullptr},
    {"_cdata", &get_cdata, nullptr, "Address of the node.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyRef make_type(PyObject* module, const char* qualified_name, PyObject* base) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("A node of the autograd graph.")},
      {Py_tp_new, reinterpret_cast<void*>(&node_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&preserve::dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(&node_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(&preserve::clear_through_impl)},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {0, nullptr},
  };
  PyType_Spec spec = {qualified_name, sizeof(Wrapper), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                          Py_TPFLAGS_IMMUTABLETYPE,
                      slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, base)));
}

// The class of a node; borrowed.
PyTypeObject* type_of(ModuleState* state, const Node& node) {
  const std::string name = node.name();
  PyObject* known = PyDict_GetItemString(state->node_types, name.c_str());  // borrowed
  if (known == nullptr) {
    PyRef module = PyRef::borrow(PyType_GetModule(state->node));
    PyRef made = make_type(module.get(), ("slotcore." + name).c_str(),
                           reinterpret_cast<PyObject*>(state->node));
    checked(PyDict_SetItemString(state->node_types, name.c_str(), made.get()));
    known = made.get();
  }
  return reinterpret_cast<PyTypeObject*>(known);
}

}  // namespace

PyRef make_node_type(PyObject* module) { return make_type(module, "slotcore.Node", nullptr); }

PyRef wrap_node(ModuleState* state, intrusive_ptr<Node> node) {
  if (!node) return PyRef::borrow(Py_None);
  if (PyObject* object = node->python_object()) {
    node->pyobj_slot()->check_pyobj(state->interpreter->tag());
    return PyRef::borrow(object);
  }
  PyTypeObject* type = type_of(state, *node);
  return PyRef::steal(checked(wrap(state->interpreter, type, node)));
}

}  // namespace slotcore::python
