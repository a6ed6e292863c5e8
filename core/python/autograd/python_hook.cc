// Calls of hooks. They run under the GIL, which the engine has given up.

#include "core/python/autograd/python_hook.h"

#include "core/python/autograd/gradients.h"
#include "core/python/preserve/released_gil.h"

namespace slotcore::python {
namespace {

using autograd::Gradients;

// Calls `each(callable)` for the hooks that are in the dict now.
template <class Each>
void for_each_hook(const HookDict& hooks, Each each) {
  PyRef callables = hooks.callables();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(callables.get()); i++)
    each(PyList_GET_ITEM(callables.get(), i));
}

ModuleState* state_of(const HookDict& hooks) {
  ModuleState* state = hooks.interpreter()->module;
  if (state == nullptr) throw_python(PyExc_RuntimeError, "slotcore has been unloaded");
  return state;
}

// What a hook returned replaces the gradients, unless it is None.
void replace(ModuleState* state, Gradients& gradients, const PyRef& result, const char* what) {
  if (result.get() == Py_None) return;
  Gradients replaced = gradients_of(state, result.get(), what);
  if (replaced.size() != gradients.size()) {
    throw_python(PyExc_RuntimeError, "%s returned %zu gradients and must return %zu", what,
                 replaced.size(), gradients.size());
  }
  gradients = std::move(replaced);
}

// Refers weakly to the dict: who keeps a handle keeps no hook (A3f).
struct Handle {
  PyObject_HEAD PyObject* dict;  // a weak reference
  PyObject* key;
};

Handle* as_handle(PyObject* self) { return reinterpret_cast<Handle*>(self); }

PyObject* handle_remove(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Handle* handle = as_handle(self);
    // Owned, because what is removed may run user code, which may drop the tensor.
    PyRef dict = called(PyObject_CallNoArgs, handle->dict);
    if (dict.get() == Py_None) Py_RETURN_NONE;
    int known = PyDict_Contains(dict.get(), handle->key);
    checked(known);
    // Not PyDict_DelItem(), which an OrderedDict does not notice.
    if (known) checked(PyObject_DelItem(dict.get(), handle->key));
    Py_RETURN_NONE;
  });
}

PyObject* handle_enter(PyObject* self, PyObject*) { return Py_NewRef(self); }

PyObject* handle_exit(PyObject* self, PyObject*) { return handle_remove(self, nullptr); }

void handle_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  clear(as_handle(self)->dict);
  clear(as_handle(self)->key);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef handle_methods[] = {
    {"remove", &handle_remove, METH_NOARGS,
     "remove(): the hook is not called any more, except by a run that has begun."},
    {"__enter__", &handle_enter, METH_NOARGS, "Returns the handle."},
    {"__exit__", &handle_exit, METH_VARARGS, "Removes the hook."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyRef HookDict::callables() const {
  if (!PyDict_Check(dict()))
    throw_python(PyExc_TypeError, "the hooks must be a dict, not %s", Py_TYPE(dict())->tp_name);
  return PyRef::steal(checked(PyDict_Values(dict())));
}

template <class Hook>
std::shared_ptr<Hook> HookDict::copied_as() const {
  std::shared_ptr<Hook> result;
  with_taken_gil(*interpreter(), [&] {
    if (!PyDict_Check(dict())) return;
    PyRef copy = PyRef::steal(checked(PyDict_Copy(dict())));
    result = std::make_shared<Hook>(interpreter(), copy.get());
  });
  return result;
}

std::shared_ptr<autograd::FunctionPreHook> TensorHook::of_run() const {
  return hooks_.copied_as<TensorHook>();
}

std::shared_ptr<autograd::FunctionPreHook> NodePreHook::of_run() const {
  return hooks_.copied_as<NodePreHook>();
}

std::shared_ptr<autograd::FunctionPostHook> NodePostHook::of_run() const {
  return hooks_.copied_as<NodePostHook>();
}

Gradients TensorHook::operator()(Gradients gradients) {
  with_taken_gil(*hooks_.interpreter(), [&] {
    ModuleState* state = state_of(hooks_);
    for_each_hook(hooks_, [&](PyObject* hook) {
      PyRef gradient = gradient_object(state, gradients[0]);
      PyRef result = called(PyObject_CallOneArg, hook, gradient.get());
      if (PyTuple_Check(result.get()))
        throw_python(PyExc_TypeError, "a hook returned a tuple and must return a Tensor or None");
      if (!gradients[0]) {
        if (result.get() != Py_None)
          throw_python(PyExc_RuntimeError, "a hook replaced a gradient that is None");
        return;
      }
      const Dims sizes = gradients[0]->sizes();
      replace(state, gradients, result, "a hook");
      if (gradients[0]->sizes() != sizes) {
        throw_python(PyExc_RuntimeError, "a hook changed the size of the gradient from %s to %s",
                     text(sizes).c_str(), text(gradients[0]->sizes()).c_str());
      }
    });
  });
  return gradients;
}

Gradients NodePreHook::operator()(Gradients gradients) {
  with_taken_gil(*hooks_.interpreter(), [&] {
    ModuleState* state = state_of(hooks_);
    for_each_hook(hooks_, [&](PyObject* hook) {
      PyRef tuple = gradient_tuple(state, gradients);
      PyRef result = called(PyObject_CallOneArg, hook, tuple.get());
      replace(state, gradients, result, "a pre-hook");
    });
  });
  return gradients;
}

Gradients NodePostHook::operator()(Gradients outputs, const Gradients& inputs) {
  with_taken_gil(*hooks_.interpreter(), [&] {
    ModuleState* state = state_of(hooks_);
    for_each_hook(hooks_, [&](PyObject* hook) {
      PyRef returned = gradient_tuple(state, outputs), given = gradient_tuple(state, inputs);
      PyRef result =
          called(PyObject_CallFunctionObjArgs, hook, returned.get(), given.get(), nullptr);
      replace(state, outputs, result, "a post-hook");
    });
  });
  return outputs;
}

PyRef make_handle_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("What register_hook() returns: remove() removes the hook.")},
      {Py_tp_dealloc, reinterpret_cast<void*>(&handle_dealloc)},
      {Py_tp_methods, handle_methods},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.RemovableHandle", sizeof(Handle), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

PyRef add_hook(ModuleState* state, PyObject* dict, PyObject* callable) {
  if (!PyCallable_Check(callable))
    throw_python(PyExc_TypeError, "a hook must be callable, not %s", Py_TYPE(callable)->tp_name);
  PyRef handle = PyRef::steal(checked(state->handle_type->tp_alloc(state->handle_type, 0)));
  // Keys count up, so that no handle removes the hook of another one.
  as_handle(handle.get())->key = checked(PyLong_FromUnsignedLongLong(state->next_hook++));
  as_handle(handle.get())->dict = checked(PyWeakref_NewRef(dict, nullptr));
  // Not PyDict_SetItem(), which an OrderedDict does not notice.
  checked(PyObject_SetItem(dict, as_handle(handle.get())->key, callable));
  return handle;
}

}  // namespace slotcore::python
