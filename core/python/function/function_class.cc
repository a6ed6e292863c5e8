// Function, the base class of custom Functions. Each subclass gets a second class, `_backward_cls`,
// whose instances are the ctxs of its calls.

#include <string>

#include "core/python/function/function.h"

namespace slotcore::python {
namespace {

PyRef attribute(PyObject* object, const char* name) {
  return PyRef::steal(checked(PyObject_GetAttrString(object, name)));
}

// `first` before the items of `args`.
PyRef prepended(PyObject* first, PyObject* args) {
  PyRef tuple = PyRef::steal(checked(PyTuple_New(PyTuple_GET_SIZE(args) + 1)));
  PyTuple_SET_ITEM(tuple.get(), 0, Py_NewRef(first));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++)
    PyTuple_SET_ITEM(tuple.get(), i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
  return tuple;
}

PyRef call(PyObject* function, PyObject* args) {
  return called(PyObject_Call, function, args, nullptr);
}

// forward(ctx, *args); or forward(*args) and setup_context(ctx, args, results).
PyRef static_forward(ModuleState* state, PyObject* type, PyObject* context, PyObject* args) {
  PyRef forward = attribute(type, "forward"), setup = attribute(type, "setup_context");
  PyRef inherited = attribute(reinterpret_cast<PyObject*>(state->function), "setup_context");
  if (setup.get() == inherited.get()) return call(forward.get(), prepended(context, args).get());
  PyRef results = call(forward.get(), args);
  PyRef setup_args = PyRef::steal(checked(PyTuple_Pack(3, context, args, results.get())));
  call(setup.get(), setup_args.get());
  return results;
}

PyObject* apply(PyObject* type, PyObject* args) {
  return guarded([&] {
    ModuleState* state = state_of_type(reinterpret_cast<PyTypeObject*>(type));
    PyRef made = called(PyObject_CallNoArgs, attribute(type, "_backward_cls").get());
    if (!PyObject_TypeCheck(made.get(), state->function_base)) {
      throw_python(PyExc_TypeError, "_backward_cls of %s makes a %s",
                   reinterpret_cast<PyTypeObject*>(type)->tp_name, Py_TYPE(made.get())->tp_name);
    }
    return run_forward(state, as_context(made.get()), args,
                       [&](PyObject*) { return static_forward(state, type, made.get(), args); })
        .release();
  });
}

// Calls a legacy Function: the instance is ctx (A6).
PyObject* legacy_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    if (kwargs != nullptr && PyDict_GET_SIZE(kwargs) != 0)
      throw_python(PyExc_TypeError, "a Function takes no keyword");
    FunctionContext* context = as_context(self);
    if (!context->parts->node.expired()) {
      checked(PyErr_WarnEx(PyExc_UserWarning,
                           "a legacy Function is called again while the graph of its former call"
                           " lives: it forgets what that one has saved",
                           1));
    }
    ModuleState* state = state_of_type(Py_TYPE(self));
    context->is_legacy = true;
    PyRef forward = attribute(self, "forward");
    PyRef keep = PyRef::borrow(self);
    return run_forward(state, context, args, [&](PyObject*) { return call(forward.get(), args); })
        .release();
  });
}

PyObject* init_subclass(PyObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    if (PyTuple_GET_SIZE(args) != 0 || (kwargs != nullptr && PyDict_GET_SIZE(kwargs) != 0))
      throw_python(PyExc_TypeError, "the class statement of a Function takes no arguments");
    ModuleState* state = state_of_type(reinterpret_cast<PyTypeObject*>(type));
    PyRef name = attribute(type, "__name__");
    PyRef members = PyRef::steal(checked(Py_BuildValue("{s:O}", "_forward_cls", type)));
    // A class that type() makes where the globals have no `__name__` has no `__module__`.
    if (PyObject_HasAttrString(type, "__module__")) {
      PyRef module = attribute(type, "__module__");
      checked(PyDict_SetItemString(members.get(), "__module__", module.get()));
    }
    PyRef made = called(PyObject_CallFunction, reinterpret_cast<PyObject*>(&PyType_Type), "N(O)O",
                        checked(PyUnicode_FromFormat("%UBackward", name.get())),
                        state->backward_function, members.get());
    checked(PyObject_SetAttrString(type, "_backward_cls", made.get()));
    Py_RETURN_NONE;
  });
}

PyObject* not_implemented(const char* name) {
  PyErr_Format(PyExc_NotImplementedError, "a Function must implement %s", name);
  return nullptr;
}
PyObject* forward(PyObject*, PyObject*) { return not_implemented("forward"); }
PyObject* backward(PyObject*, PyObject*) { return not_implemented("backward"); }
PyObject* setup_context(PyObject*, PyObject*) { return not_implemented("setup_context"); }

PyMethodDef function_methods[] = {
    {"apply", &apply, METH_CLASS | METH_VARARGS,
     "apply(*args): runs forward, and returns its results with this Function as their node."},
    {"__init_subclass__",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(init_subclass)),
     METH_CLASS | METH_VARARGS | METH_KEYWORDS, "Makes the class of the subclass's ctxs."},
    {"forward", &forward, METH_STATIC | METH_VARARGS,
     "forward(ctx, *args), or forward(*args) of a Function with setup_context."},
    {"backward", &backward, METH_STATIC | METH_VARARGS,
     "backward(ctx, *gradients): a gradient for each argument of forward, None for one that is no\n"
     "tensor."},
    {"setup_context", &setup_context, METH_STATIC | METH_VARARGS,
     "setup_context(ctx, args, results): called after forward, if a subclass has it."},
    {nullptr, nullptr, 0, nullptr},
};

PyObject* context_apply(PyObject* self, PyObject* args) {
  return guarded([&] {
    PyRef type = attribute(self, "_forward_cls");
    PyRef method = attribute(type.get(), "backward");
    return call(method.get(), prepended(self, args).get()).release();
  });
}

PyMethodDef context_apply_methods[] = {
    {"apply", &context_apply, METH_VARARGS,
     "apply(*gradients): calls backward of the Function with this ctx."},
    {nullptr, nullptr, 0, nullptr},
};

PyTypeObject* add_class(PyObject* module, PyObject* autograd, const char* qualified_name,
                        PyMethodDef* methods, ternaryfunc call, PyTypeObject* base,
                        const char* doc) {
  std::vector<PyType_Slot> slots = {{Py_tp_doc, const_cast<char*>(doc)}, {Py_tp_methods, methods}};
  if (call != nullptr) slots.push_back({Py_tp_call, reinterpret_cast<void*>(call)});
  slots.push_back({0, nullptr});
  PyType_Spec spec = {qualified_name, sizeof(FunctionContext), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  PyRef type = PyRef::steal(
      checked(PyType_FromModuleAndSpec(module, &spec, reinterpret_cast<PyObject*>(base))));
  auto* result = reinterpret_cast<PyTypeObject*>(type.get());
  checked(PyModule_AddType(autograd, result));
  return reinterpret_cast<PyTypeObject*>(type.release());
}

}  // namespace

void add_function(PyObject* module, PyObject* autograd) {
  ModuleState* state = state_of_module(module);
  state->function_base = reinterpret_cast<PyTypeObject*>(make_context_type(module).release());
  checked(PyModule_AddType(autograd, state->function_base));
  state->backward_function =
      add_class(module, autograd, "slotcore.BackwardCFunction", context_apply_methods, nullptr,
                state->function_base, "A ctx of a Function with a static forward.");
  state->function =
      add_class(module, autograd, "slotcore.Function", function_methods, &legacy_call,
                state->function_base, "Base class of operations with a forward and a backward.");
}

}  // namespace slotcore::python
