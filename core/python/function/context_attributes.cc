// What Python reads and writes of a ctx. The names are torch's.

#include "core/autograd/engine/run_task.h"
#include "core/python/autograd/graph.h"
#include "core/python/autograd/node_attributes.h"
#include "core/python/autograd/owned_rows.h"
#include "core/python/function/context.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

ModuleState* state_of(PyObject* self) {
  ModuleState* state = as_context(self)->interpreter->module;
  if (state == nullptr) throw_python(PyExc_RuntimeError, "slotcore has been unloaded");
  return state;
}

// The saved tensors, each as it was saved (A2). "Freed" is computed: the tensors of a node that is
// gone may still be in ctx, whose release may be deferred.
PyObject* saved_tensors(PyObject* self, void*) {
  return guarded([&] {
    ModuleState* state = state_of(self);
    FunctionContext* context = as_context(self);
    // As in torch, for a forward-mode derivative, which runs before apply() returns.
    if (context->saved_for_forward != nullptr) return Py_NewRef(context->saved_for_forward);
    auto node = context->parts->node.lock();
    // Copies: unpacking and wrapping run user code, which may release those of ctx.
    std::vector<autograd::SavedVariable> saved = context->parts->saved;
    if (context->is_released || (!node && !saved.empty())) {
      throw_python(PyExc_RuntimeError,
                   "trying to backward through the graph a second time, or to access saved tensors"
                   " after they were freed; pass retain_graph=True to the first backward");
    }
    std::vector<intrusive_ptr<TensorImpl>> tensors;
    for (const autograd::SavedVariable& one : saved) tensors.push_back(one.unpack(node));
    PyRef tuple = PyRef::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(tensors.size()))));
    for (size_t i = 0; i < tensors.size(); i++) {
      PyObject* one = tensors[i] ? wrap_tensor(state, tensors[i]) : Py_NewRef(Py_None);
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), one);
    }
    return tuple.release();
  });
}

PyObject* next_functions(PyObject* self, void*) {
  return guarded([&] {
    auto node = node_of(as_context(self), "next_functions");
    return next_functions_of(state_of(self), *node).release();
  });
}

PyObject* metadata(PyObject* self, void*) {
  return guarded([&] {
    auto node = node_of(as_context(self), "metadata");
    return metadata_of(state_of(self), *node).release();
  });
}

PyObject* name(PyObject* self, PyObject*) {
  return guarded([&] {
    auto node = node_of(as_context(self), "name()");
    return checked(PyUnicode_FromString(node->name().c_str()));
  });
}

PyObject* sequence_nr(PyObject* self, PyObject*) {
  return guarded([&] {
    auto node = node_of(as_context(self), "_sequence_nr()");
    return checked(PyLong_FromUnsignedLongLong(node->sequence_nr()));
  });
}

PyObject* register_hook(PyObject* self, PyObject* callable) {
  return guarded([&] {
    auto node = node_of(as_context(self), "register_hook()");
    return add_post_hook(state_of(self), *node, callable).release();
  });
}

PyObject* register_prehook(PyObject* self, PyObject* callable) {
  return guarded([&] {
    auto node = node_of(as_context(self), "register_prehook()");
    return add_pre_hook(state_of(self), *node, callable).release();
  });
}

PyObject* release_objects(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    as_context(self)->is_released = true;
    release_saved(as_context(self));
    Py_RETURN_NONE;
  });
}

PyObject* clear_saved(PyObject* self, PyObject*) {
  if (autograd::EngineThread::current().frees_graph) return release_objects(self, nullptr);
  Py_RETURN_NONE;
}

PyObject* owned_by_cpp(PyObject* self, PyObject*) {
  return guarded([&] {
    ReferenceRows rows;
    rows.add_instance(self);
    FunctionContext* context = as_context(self);
    const std::pair<const char*, PyObject*> parts[] = {
        {".to_save", context->to_save},
        {".dirty_tensors", context->dirty_tensors},
        {".non_differentiable", context->non_differentiable},
        {".saved_for_forward", context->saved_for_forward},
        {".needs_input_grad", context->needs_input_grad}};
    for (auto [link, part] : parts) {
      if (part != nullptr) rows.add_object(self, link, part, false);
    }
    // The ctx does not own its node, but nothing else may lead to what that owns. The lock ends at
    // once, because the rows count references; no other thread may use the graph.
    autograd::Node* node = context->parts->node.lock().get();
    add_links(rows, self, autograd::owned_links(context->parts->saved, node));
    return rows.take().release();
  });
}

PyObject* keep(PyObject*& slot, PyObject* value) {
  PyRef former = PyRef::steal(slot);  // dropped at the end, because that may run user code
  slot = Py_NewRef(value);
  Py_RETURN_NONE;
}

PyObject* save_for_backward(PyObject* self, PyObject* args) {
  return keep(as_context(self)->to_save, args);
}
PyObject* save_for_forward(PyObject* self, PyObject* args) {
  return guarded([&] {
    ModuleState* state = state_of(self);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
      PyObject* one = PyTuple_GET_ITEM(args, i);
      if (one != Py_None && as_tensor(state, one) == nullptr) {
        throw_python(PyExc_TypeError, "save_for_forward() saves tensors, not a %s",
                     Py_TYPE(one)->tp_name);
      }
    }
    return keep(as_context(self)->saved_for_forward, args);
  });
}
PyObject* mark_dirty(PyObject* self, PyObject* args) {
  return keep(as_context(self)->dirty_tensors, args);
}
PyObject* mark_non_differentiable(PyObject* self, PyObject* args) {
  return keep(as_context(self)->non_differentiable, args);
}

// A property that is one of the objects that forward leaves.
template <PyObject* FunctionContext::*Slot>
PyObject* get_object(PyObject* self, void*) {
  PyObject* object = as_context(self)->*Slot;
  return Py_NewRef(object == nullptr ? Py_None : object);
}
template <PyObject* FunctionContext::*Slot>
int set_object(PyObject* self, PyObject* value, void*) {
  PyRef former = PyRef::steal(std::exchange(as_context(self)->*Slot, Py_XNewRef(value)));
  return 0;
}

template <bool FunctionContext::*Flag>
PyObject* get_flag(PyObject* self, void*) {
  return PyBool_FromLong(as_context(self)->*Flag);
}
int set_materialize(PyObject* self, PyObject* value, void*) {
  return guarded([&] {
    if (value == nullptr || !PyBool_Check(value))
      throw_python(PyExc_TypeError, "materialize_grads must be a bool");
    as_context(self)->materialize_grads = value == Py_True;
    return 0;
  });
}
PyObject* set_materialize_grads(PyObject* self, PyObject* value) {
  if (set_materialize(self, value, nullptr) != 0) return nullptr;
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef context_methods[] = {
    {"save_for_backward", &save_for_backward, METH_VARARGS,
     "save_for_backward(*tensors): backward finds them in saved_tensors. The last call counts."},
    {"save_for_forward", &save_for_forward, METH_VARARGS,
     "save_for_forward(*tensors): kept in saved_for_forward, and saved_tensors is that, until\n"
     "apply() returns. TypeError for what is neither a tensor nor None."},
    {"mark_dirty", &mark_dirty, METH_VARARGS,
     "mark_dirty(*tensors): forward has written these inputs in place, and returns them."},
    {"mark_non_differentiable", &mark_non_differentiable, METH_VARARGS,
     "mark_non_differentiable(*tensors): these results have no gradient."},
    {"set_materialize_grads", &set_materialize_grads, METH_O,
     "set_materialize_grads(bool): whether backward gets zeros for a missing gradient, or None.\n"
     "TypeError for what is no bool."},
    {"maybe_clear_saved_tensors", &clear_saved, METH_NOARGS,
     "maybe_clear_saved_tensors(): frees the saved tensors in a backward that frees its graph."},
    {"name", &name, METH_NOARGS, "name() -> str: that of the class."},
    {"_sequence_nr", &sequence_nr, METH_NOARGS, "_sequence_nr() -> int: later nodes run first."},
    {"register_hook", &register_hook, METH_O,
     "register_hook(hook) -> RemovableHandle. hook(grad_inputs, grad_outputs) is called after the\n"
     "node has run, and returns None or what replaces grad_inputs."},
    {"register_prehook", &register_prehook, METH_O,
     "register_prehook(hook) -> RemovableHandle. hook(grad_outputs) is called before the node\n"
     "runs, and returns None or what replaces grad_outputs."},
    {"_release_objects", &release_objects, METH_NOARGS,
     "_release_objects(): for tests. Frees the saved tensors at any time."},
    {"_owned_by_cpp", &owned_by_cpp, METH_NOARGS,
     "_owned_by_cpp() -> list: as for tensors, what the saved tensors own, themselves included,\n"
     "and what its node owns."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef context_properties[] = {
    {"saved_tensors", &saved_tensors, nullptr,
     "A tuple of what save_for_backward() got. RuntimeError when a backward has freed them, when\n"
     "the graph is gone, or when one was written in place since.",
     nullptr},
    {"next_functions", &next_functions, nullptr,
     "A tuple of pairs: the node that gets a gradient of this one, or None, and its input.",
     nullptr},
    {"metadata", &metadata, nullptr, "A dict for what users keep with the node.", nullptr},
    {"needs_input_grad", &get_object<&FunctionContext::needs_input_grad>,
     &set_object<&FunctionContext::needs_input_grad>,
     "A tuple of bools: which arguments of apply() required a gradient.", nullptr},
    {"to_save", &get_object<&FunctionContext::to_save>, &set_object<&FunctionContext::to_save>,
     "What save_for_backward() got, until apply() returns.", nullptr},
    {"dirty_tensors", &get_object<&FunctionContext::dirty_tensors>,
     &set_object<&FunctionContext::dirty_tensors>, "What mark_dirty() got.", nullptr},
    {"non_differentiable", &get_object<&FunctionContext::non_differentiable>,
     &set_object<&FunctionContext::non_differentiable>, "What mark_non_differentiable() got.",
     nullptr},
    {"saved_for_forward", &get_object<&FunctionContext::saved_for_forward>,
     &set_object<&FunctionContext::saved_for_forward>, "What save_for_forward() got.", nullptr},
    {"materialize_grads", &get_flag<&FunctionContext::materialize_grads>, &set_materialize,
     "Whether backward gets zeros for a missing gradient.", nullptr},
    {"requires_grad", &get_flag<&FunctionContext::requires_grad>, nullptr,
     "Whether apply() was recorded.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace slotcore::python
