// The submodules: torch's names in `_subclasses.meta_utils`, and in `_meta` what torch has not.

#include "core/meta/text/desc_read.h"
#include "core/meta/text/desc_write.h"
#include "core/python/meta/meta.h"
#include "core/python/sizes/sym_int.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

PyObject* dumps(PyObject* module, PyObject* desc) {
  return guarded([&] {
    std::string text = meta::dumps(*document_of(state_of_module(module), desc));
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  });
}

PyObject* loads(PyObject* module, PyObject* text) {
  return guarded([&] {
    if (!PyUnicode_Check(text))
      throw_python(PyExc_TypeError, "expected a str, got %s", Py_TYPE(text)->tp_name);
    Py_ssize_t size;
    const char* bytes = PyUnicode_AsUTF8AndSize(text, &size);
    if (bytes == nullptr) throw PythonErrorSet{};
    return desc_object(state_of_module(module),
                       meta::loads(std::string_view(bytes, static_cast<size_t>(size))));
  });
}

PyObject* convert_desc(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    if (count != 2) throw_python(PyExc_TypeError, "convert takes a MetaConverter and a desc");
    ModuleState* state = state_of_module(module);
    DocumentPtr document = document_of(state, args[1]);
    meta::Symbols symbols;
    if (auto env = env_of_converter(state, args[0]); env && env == env_of_desc(args[1]))
      symbols = {.env = env, .kind = meta::SizeKind::kDynamic, .is_documents = true};
    return convert(state, args[0], *document, symbols).release();
  });
}

PyObject* describe_all(PyObject* module, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"copy_data", nullptr};
    int copies_data = 0;
    PyRef none = PyRef::steal(checked(PyTuple_New(0)));
    if (!PyArg_ParseTupleAndKeywords(none.get(), kwargs, "|$p:describe", const_cast<char**>(names),
                                     &copies_data)) {
      throw PythonErrorSet{};
    }
    if (PyTuple_GET_SIZE(args) < 2)
      throw_python(PyExc_TypeError, "describe takes a MetaTensorDescriber and tensors");
    ModuleState* state = state_of_module(module);
    PyObject* const* items = &PyTuple_GET_ITEM(args, 0);
    auto use = [&](const DocumentPtr& document) {
      return PyRef::steal(desc_object(state, document));
    };
    return describe(state, items[0], items + 1, PyTuple_GET_SIZE(args) - 1,
                    {.copy_data = copies_data != 0, .keep_symbols = true}, use)
        .release();
  });
}

PyObject* sizes(PyObject* module, PyObject* converter) {
  return guarded([&] { return memo_sizes(state_of_module(module), converter).release(); });
}

PyMethodDef functions[] = {
    {"describe", method(&describe_all), METH_VARARGS | METH_KEYWORDS,
     "describe(describer, *tensors, copy_data=False) -> MetaTensorDesc of the first tensor, which\n"
     "also has the others, and the bytes if they are to be copied."},
    {"dumps", &dumps, METH_O, "dumps(desc) -> str: its canonical text."},
    {"loads", &loads, METH_O,
     "loads(text) -> MetaTensorDesc. ValueError with the JSON pointer of the field that is wrong."},
    {"convert", method(&convert_desc), METH_FASTCALL,
     "convert(converter, desc) -> tuple of the fakes of all tensors that were described. Sizes\n"
     "that are expressions stay so in a mode with the ShapeEnv of the description."},
    {"memo_sizes", &sizes, METH_O,
     "memo_sizes(converter) -> (tensors, storages, fakes, fake storages): entries of its tables."},
    {nullptr, nullptr, 0, nullptr},
};

void add(PyObject* module, const char* name, PyTypeObject* type) {
  checked(PyModule_AddObjectRef(module, name, reinterpret_cast<PyObject*>(type)));
}

// The functions get `module`, which has the state.
void add_functions(PyObject* submodule, PyObject* module, PyMethodDef* rows) {
  for (PyMethodDef* row = rows; row->ml_name != nullptr; row++) {
    PyRef function = PyRef::steal(checked(PyCFunction_NewEx(row, module, nullptr)));
    checked(PyModule_AddObjectRef(submodule, row->ml_name, function.get()));
  }
}

// The submodules of fx: GraphModule, experimental.symbolic_shapes and experimental.proxy_tensor.
void add_fx(PyObject* module, const ModuleState* state) {
  PyRef fx = PyRef::steal(checked(PyModule_New("slotcore.fx")));
  PyRef experimental = PyRef::steal(checked(PyModule_New("slotcore.fx.experimental")));
  PyRef shapes = PyRef::steal(checked(PyModule_New("slotcore.fx.experimental.symbolic_shapes")));
  add(shapes.get(), "ShapeEnv", state->shape_env_type);
  checked(PyModule_AddObjectRef(experimental.get(), "symbolic_shapes", shapes.get()));
  PyRef proxy_tensor = PyRef::steal(checked(PyModule_New("slotcore.fx.experimental.proxy_tensor")));
  add_functions(proxy_tensor.get(), module, proxy_tensor_functions);
  checked(PyModule_AddObjectRef(experimental.get(), "proxy_tensor", proxy_tensor.get()));
  add(fx.get(), "GraphModule", state->graph_type);
  checked(PyModule_AddObjectRef(fx.get(), "experimental", experimental.get()));
  checked(PyModule_AddObjectRef(module, "fx", fx.get()));
  add(module, "SymInt", state->sym_int_type);
  add(module, "SymBool", state->sym_bool_type);
}

}  // namespace

void add_meta(PyObject* module) {
  ModuleState* state = state_of_module(module);
  PyRef made = PyRef::steal(checked(PyModule_New("slotcore._meta")));
  add_functions(made.get(), module, functions);
  add_functions(made.get(), module, mode_stack_functions);
  add_functions(made.get(), module, shape_env_functions);
  add_functions(made.get(), module, graph_functions);
  checked(PyModule_AddObjectRef(module, "_meta", made.get()));
  PyRef subclasses = PyRef::steal(checked(PyModule_New("slotcore._subclasses")));
  PyRef meta_utils = PyRef::steal(checked(PyModule_New("slotcore._subclasses.meta_utils")));
  PyRef fake_tensor = PyRef::steal(checked(PyModule_New("slotcore._subclasses.fake_tensor")));
  add(fake_tensor.get(), "FakeTensorMode", state->fake_mode_type);
  add(subclasses.get(), "FakeTensorMode", state->fake_mode_type);
  add_functions(fake_tensor.get(), module, fake_tensor_functions);
  add(meta_utils.get(), "MetaTensorDesc", state->desc_type);
  add(meta_utils.get(), "MetaTensorDescriber", state->describer_type);
  add(meta_utils.get(), "MetaConverter", state->converter_type);
  checked(PyModule_AddObjectRef(subclasses.get(), "meta_utils", meta_utils.get()));
  checked(PyModule_AddObjectRef(subclasses.get(), "fake_tensor", fake_tensor.get()));
  checked(PyModule_AddObjectRef(module, "_subclasses", subclasses.get()));
  add_fx(module, state);
}

}  // namespace slotcore::python
