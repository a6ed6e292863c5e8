// The module slotcore: multi-phase initialisation, heap types, all state in the module, so that
// each sub-interpreter has its own complete module.

#include "core/c10/live_counts.h"
#include "core/python/autograd/graph.h"
#include "core/python/autograd/python_hook.h"
#include "core/python/function/function.h"
#include "core/python/meta/meta.h"
#include "core/python/sizes/sym_int.h"
#include "core/python/preserve/wrapper_type.h"
#include "core/python/runtime/collector.h"
#include "core/python/runtime/device.h"
#include "core/python/runtime/hermetic.h"
#include "core/python/runtime/module_state.h"
#include "core/python/storage/storage.h"
#include "core/python/tensor/dtype.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {

int ModuleState::traverse(visitproc visit, void* arg) const {
  Py_VISIT(storage_base);
  Py_VISIT(untyped_storage);
  Py_VISIT(tensor_base);
  Py_VISIT(tensor);
  Py_VISIT(parameter);
  Py_VISIT(dtype_type);
  Py_VISIT(device_type);
  Py_VISIT(node);
  Py_VISIT(node_types);
  Py_VISIT(function_base);
  Py_VISIT(backward_function);
  Py_VISIT(function);
  Py_VISIT(handle_type);
  Py_VISIT(desc_type);
  Py_VISIT(describer_type);
  Py_VISIT(converter_type);
  Py_VISIT(fake_mode_type);
  Py_VISIT(shape_env_type);
  Py_VISIT(sym_int_type);
  Py_VISIT(sym_bool_type);
  Py_VISIT(graph_type);
  for (PyObject* dtype : dtypes) Py_VISIT(dtype);
  for (PyObject* device : devices) Py_VISIT(device);
  return 0;
}

void ModuleState::clear() {
  // Wrappers that outlive the module then raise an error instead of using cleared objects.
  if (interpreter != nullptr && interpreter->module == this) interpreter->module = nullptr;
  Py_CLEAR(storage_base);
  Py_CLEAR(untyped_storage);
  Py_CLEAR(tensor_base);
  Py_CLEAR(tensor);
  Py_CLEAR(parameter);
  Py_CLEAR(dtype_type);
  Py_CLEAR(device_type);
  Py_CLEAR(node);
  Py_CLEAR(node_types);
  Py_CLEAR(function_base);
  Py_CLEAR(backward_function);
  Py_CLEAR(function);
  Py_CLEAR(handle_type);
  Py_CLEAR(desc_type);
  Py_CLEAR(describer_type);
  Py_CLEAR(converter_type);
  Py_CLEAR(fake_mode_type);
  Py_CLEAR(shape_env_type);
  Py_CLEAR(sym_int_type);
  Py_CLEAR(sym_bool_type);
  Py_CLEAR(graph_type);
  for (PyObject*& dtype : dtypes) Py_CLEAR(dtype);
  for (PyObject*& device : devices) Py_CLEAR(device);
}

ModuleState* state_of_module(PyObject* module) noexcept {
  return static_cast<ModuleState*>(PyModule_GetState(module));
}

ModuleState* state_of_type(PyTypeObject* type) {
  return state_of_module(checked(PyType_GetModuleByDef(type, &slotcore_module)));
}

ModuleState* state_of_wrapper(PyObject* self) {
  ModuleState* state = as_wrapper(self)->interpreter->module;
  if (state == nullptr) [[unlikely]]
    throw_python(PyExc_RuntimeError, "slotcore has been unloaded");
  return state;
}

namespace {

PyTypeObject* add_type(PyObject* module, PyRef type) {
  auto* result = reinterpret_cast<PyTypeObject*>(type.get());
  checked(PyModule_AddType(module, result));
  return reinterpret_cast<PyTypeObject*>(type.release());
}

// The submodule nn.
void add_nn(PyObject* module, PyRef parameter) {
  PyRef nn = PyRef::steal(checked(PyModule_New("slotcore.nn")));
  checked(PyModule_AddObjectRef(nn.get(), "Parameter", parameter.get()));
  checked(PyModule_AddObjectRef(module, "nn", nn.get()));
}

PyObject* live_impls(PyObject* module, PyObject*) {
  state_of_module(module)->interpreter->run_deferred();
  return PyLong_FromLongLong(live_storages.value() + live_tensors.value() + live_nodes.value());
}

PyObject* live_blocks_count(PyObject* module, PyObject*) {
  state_of_module(module)->interpreter->run_deferred();
  return PyLong_FromLongLong(live_blocks.value());
}

PyObject* left_behind(PyObject*, PyObject*) {
  return PyLong_FromLongLong(Interpreter::left_behind());
}

PyObject* live_wrappers(PyObject* module, PyObject*) {
  state_of_module(module)->interpreter->run_deferred();
  return PyLong_FromLongLong(state_of_module(module)->interpreter->live_wrappers);
}

PyObject* live_contexts(PyObject* module, PyObject*) {
  return PyLong_FromLongLong(state_of_module(module)->interpreter->live_contexts);
}

PyObject* saved_tensors(PyObject*, PyObject*) {
  return PyLong_FromLongLong(live_saved_variables.value());
}

PyObject* live_backwards(PyObject*, PyObject*) {
  return PyLong_FromLongLong(live_graph_tasks.value());
}

PyObject* queued_tasks(PyObject*, PyObject*) {
  return PyLong_FromLongLong(queued_node_tasks.value());
}

PyObject* table_entries(PyObject*, PyObject*) {
  return PyLong_FromLongLong(live_table_entries.value());
}

PyObject* modes(PyObject*, PyObject*) { return PyLong_FromLongLong(live_modes.value()); }

PyMethodDef ledger_methods[] = {
    {"_live_impls", &live_impls, METH_NOARGS,
     "_live_impls() -> int: storages, tensors and graph nodes that exist in this process."},
    {"_live_wrappers", &live_wrappers, METH_NOARGS,
     "_live_wrappers() -> int: their Python objects that exist in this interpreter."},
    {"_live_blocks", &live_blocks_count, METH_NOARGS,
     "_live_blocks() -> int: blocks of memory, and buffers of Python, that storages own."},
    {"_live_contexts", &live_contexts, METH_NOARGS,
     "_live_contexts() -> int: ctxs of custom Functions that exist in this interpreter."},
    {"_live_saved_tensors", &saved_tensors, METH_NOARGS,
     "_live_saved_tensors() -> int: places for a saved tensor in nodes and ctxs, also freed ones."},
    {"_live_backwards", &live_backwards, METH_NOARGS,
     "_live_backwards() -> int: backwards that run in this process."},
    {"_queued_tasks", &queued_tasks, METH_NOARGS,
     "_queued_tasks() -> int: nodes that are ready and wait for a thread of a backward."},
    {"_live_table_entries", &table_entries, METH_NOARGS,
     "_live_table_entries() -> int: entries in the tables of describers and converters."},
    {"_live_modes", &modes, METH_NOARGS, "_live_modes() -> int: fake modes that exist."},
    {"_left_behind", &left_behind, METH_NOARGS,
     "_left_behind() -> int: references that C++ released while their interpreter ended (T6)."},
    {nullptr, nullptr, 0, nullptr},
};

int exec(PyObject* module) {
  return guarded([&] {
    ModuleState* state = state_of_module(module);
    state->interpreter = Interpreter::current();
    collector::learn();
    add_dtypes(module, state);
    add_devices(module, state);

    PyRef meta = make_metaclass(module, "slotcore._StorageMeta");
    state->storage_base = add_type(module, make_storage_base(module));
    state->untyped_storage = add_type(
        module, make_wrapper_class(meta.get(), "UntypedStorage",
                                   reinterpret_cast<PyObject*>(state->storage_base),
                                   "UntypedStorage(size=0): zero bytes, or the bytes of a list."));
    Py_DECREF(add_type(module, std::move(meta)));

    meta = make_metaclass(module, "slotcore._TensorMeta");
    state->tensor_base =
        add_type(module, make_tensor_base(module, {tensor_graph_methods, tensor_backward_methods},
                                          {tensor_graph_properties, tensor_fake_properties}));
    state->tensor = add_type(
        module,
        make_wrapper_class(meta.get(), "Tensor", reinterpret_cast<PyObject*>(state->tensor_base),
                           "A strided view of a storage. Made by ones, empty, tensor."));
    state->node = add_type(module, make_node_type(module));
    state->node_types = checked(PyDict_New());
    state->handle_type = add_type(module, make_handle_type(module));
    add_modes(module);
    add_on_device(module);
    PyRef autograd = make_autograd(module);
    add_function(module, autograd.get());
    checked(PyModule_AddObjectRef(module, "autograd", autograd.get()));
    PyRef parameter = make_parameter_class(module, meta.get());
    state->parameter = reinterpret_cast<PyTypeObject*>(PyRef::borrow(parameter.get()).release());
    add_nn(module, std::move(parameter));
    Py_DECREF(add_type(module, std::move(meta)));
    Py_DECREF(add_type(module, make_hermetic_type(module)));
    checked(PyModule_AddObjectRef(module, "utils", make_utils(module).get()));
    for (auto [place, made] : {std::pair(&state->desc_type, &make_desc_type),
                               std::pair(&state->describer_type, &make_describer_type),
                               std::pair(&state->converter_type, &make_converter_type),
                               std::pair(&state->fake_mode_type, &make_fake_mode_type),
                               std::pair(&state->shape_env_type, &make_shape_env_type),
                               std::pair(&state->sym_int_type, &make_sym_int_type),
                               std::pair(&state->sym_bool_type, &make_sym_bool_type),
                               std::pair(&state->graph_type, &make_graph_type)})
      *place = reinterpret_cast<PyTypeObject*>(made(module).release());
    add_meta(module);

    for (PyMethodDef* methods : {factory_methods, hermetic_methods, ledger_methods, mode_methods,
                                 swap_methods, sym_int_functions, sym_bool_functions})
      checked(PyModule_AddFunctions(module, methods));
    // The name of the protocol, for code that must know the exemptions in the contract.
    checked(PyModule_AddStringConstant(module, "_preservation", preserve::kProtocol));
    state->interpreter->module = state;
    return 0;
  });
}

int traverse_module(PyObject* module, visitproc visit, void* arg) {
  ModuleState* state = state_of_module(module);
  return state == nullptr ? 0 : state->traverse(visit, arg);
}

int clear_module(PyObject* module) {
  ModuleState* state = state_of_module(module);
  if (state != nullptr) state->clear();
  return 0;
}

void free_module(void* module) { clear_module(static_cast<PyObject*>(module)); }

PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(&exec)},
#if PY_VERSION_HEX >= 0x030C0000
    // A ModuleState or an Interpreter holds every Python object of the core. Interpreters share
    // only impls, which support threads without a common GIL (T2, T5).
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
    {0, nullptr},
};

}  // namespace

PyModuleDef slotcore_module = {
    PyModuleDef_HEAD_INIT,
    "slotcore",
    "A storage and tensor core with the object life cycle of PyTorch.",
    sizeof(ModuleState),
    nullptr,
    module_slots,
    &traverse_module,
    &clear_module,
    &free_module,
};

}  // namespace slotcore::python

PyMODINIT_FUNC PyInit_slotcore() { return PyModuleDef_Init(&slotcore::python::slotcore_module); }
