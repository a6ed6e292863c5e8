// GraphModule: a graph as an object that is called, and make_fx(), which makes one. torch's names.

#include "core/meta/graph/tracer.h"
#include "core/python/meta/meta.h"
#include "core/python/sizes/sym_int.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

using autograd::TensorPtr;
using meta::Graph, meta::SizeKind, meta::Tracing;

struct GraphObject {
  PyObject_HEAD Graph graph;
};

const Graph& graph_of(PyObject* self) { return reinterpret_cast<GraphObject*>(self)->graph; }

// Throws PythonErrorSet (TypeError) for another object.
const Graph& checked_graph(ModuleState* state, PyObject* object) {
  if (!Py_IS_TYPE(object, state->graph_type))
    throw_python(PyExc_TypeError, "expected a GraphModule, got %s", Py_TYPE(object)->tp_name);
  return graph_of(object);
}

PyObject* graph_object(ModuleState* state, Graph graph) {
  PyObject* self = checked(state->graph_type->tp_alloc(state->graph_type, 0));
  std::construct_at(&reinterpret_cast<GraphObject*>(self)->graph, std::move(graph));
  return self;
}

void graph_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  std::destroy_at(&reinterpret_cast<GraphObject*>(self)->graph);
  type->tp_free(self);
  Py_DECREF(type);
}

// A describer that is used once, so ids tell nothing of former calls.
DocumentPtr described(ModuleState* state, PyObject* const* tensors, Py_ssize_t count) {
  PyRef describer = describer_of(state, make_intrusive<meta::FakeMode>());
  DocumentPtr document;
  (void)describe(state, describer.get(), tensors, count, {}, [&](const DocumentPtr& described) {
    document = described;
    return PyRef();
  });
  return document;
}

PyRef fakes_of(ModuleState* state, const Tracing& tracing, const meta::Document& inputs) {
  PyRef converter = converter_of(state, tracing.mode());
  return convert(state, converter.get(), inputs, tracing.symbols());
}

std::vector<TensorPtr> tensors_of(ModuleState* state, PyObject* tuple) {
  std::vector<TensorPtr> tensors;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
    tensors.push_back(TensorPtr::retain(
        &checked_tensor(state, PyTuple_GET_ITEM(tuple, i), "a result of a traced function")));
  }
  return tensors;
}

// The graph of `function` of tensors that are as these.
PyObject* trace(ModuleState* state, PyObject* function, PyObject* const* tensors, Py_ssize_t count,
                SizeKind kind) {
  impl::check_untraced("another trace");
  DocumentPtr inputs = described(state, tensors, count);
  Tracing tracing(inputs, kind);
  PyRef fakes = fakes_of(state, tracing, *inputs), returned;
  tracing.run(tensors_of(state, fakes.get()),
              [&] { returned = called(PyObject_Call, function, fakes.get(), nullptr); });
  bool returns_one = !PyTuple_Check(returned.get());
  if (returns_one) returned = PyRef::steal(checked(PyTuple_Pack(1, returned.get())));
  return graph_object(state, tracing.finished(tensors_of(state, returned.get()), returns_one));
}

PyObject* retrace(PyObject* module, PyObject* object) {
  return guarded([&] {
    ModuleState* state = state_of_module(module);
    PyRef keep = PyRef::borrow(object), fakes;
    const Graph& graph = checked_graph(state, object);
    return graph_object(state, meta::retraced(graph, [&](const Tracing& tracing) {
                          fakes = fakes_of(state, tracing, *graph.inputs);
                          return tensors_of(state, fakes.get());
                        }));
  });
}

PyObject* graph_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    if (kwargs != nullptr && PyDict_GET_SIZE(kwargs) != 0)
      throw_python(PyExc_TypeError, "a graph is called with tensors");
    ModuleState* state = state_of_type(Py_TYPE(self));
    DocumentPtr inputs = described(state, &PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args));
    const Graph& graph = graph_of(self);
    std::vector<TensorPtr> results = meta::run(graph, *inputs, tensors_of(state, args));
    if (graph.returns_one) return wrap_tensor(state, std::move(results[0]));
    PyRef tuple = PyRef::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(results.size()))));
    for (size_t i = 0; i < results.size(); i++) {
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                       wrap_tensor(state, std::move(results[i])));
    }
    return tuple.release();
  });
}

PyObject* check(PyObject* self, PyObject* args) {
  return guarded([&] {
    ModuleState* state = state_of_type(Py_TYPE(self));
    DocumentPtr inputs = described(state, &PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args));
    return PyBool_FromLong(meta::passes(graph_of(self), *inputs));
  });
}

PyObject* get_code(PyObject* self, void*) {
  return guarded([&] {
    std::string text = meta::text(graph_of(self));
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  });
}

// A new one, with which the graph has nothing in common.
PyObject* graph_get_env(PyObject* self, void*) {
  return guarded([&] {
    auto env = std::make_shared<meta::SharedEnv>();
    env->env = graph_of(self).env;
    return env_object(state_of_type(Py_TYPE(self)), std::move(env));
  });
}

SizeKind kind_of(const char* mode) {
  if (std::string_view(mode) == "fake") return SizeKind::kStatic;
  if (std::string_view(mode) == "symbolic") return SizeKind::kDuck;
  if (std::string_view(mode) == "dynamic") return SizeKind::kDynamic;
  throw_python(PyExc_ValueError, "the tracing_mode is fake, symbolic or dynamic, and not %s", mode);
}

// `closure` is the module, the function and the kind, that make_fx() has bound.
PyObject* call_traced(PyObject* closure, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    ModuleState* state = state_of_module(PyTuple_GET_ITEM(closure, 0));
    long kind = PyLong_AsLong(PyTuple_GET_ITEM(closure, 2));
    return trace(state, PyTuple_GET_ITEM(closure, 1), args, count, static_cast<SizeKind>(kind));
  });
}

PyMethodDef traced_method = {"traced", method(&call_traced), METH_FASTCALL,
                             "traced(*tensors) -> GraphModule."};

PyObject* make_fx(PyObject* module, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"f", "tracing_mode", nullptr};
    PyObject* function;
    const char* mode = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O$s:make_fx", const_cast<char**>(names),
                                     &function, &mode)) {
      throw PythonErrorSet{};
    }
    PyRef closure = PyRef::steal(
        checked(Py_BuildValue("(OOi)", module, function, static_cast<int>(kind_of(mode)))));
    return PyCFunction_NewEx(&traced_method, closure.get(), nullptr);
  });
}

PyMethodDef graph_methods[] = {
    {"check", method(&check), METH_VARARGS,
     "check(*tensors) -> bool: whether these pass the guards. They must differ from those of the\n"
     "example in sizes, strides, offsets and bytes alone."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef graph_properties[] = {
    {"code", &get_code, nullptr,
     "A function of Python that does the same: guards, and a line for each node.", nullptr},
    {"shape_env", &graph_get_env, nullptr, "A copy of the ShapeEnv of the trace.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

PyMethodDef proxy_tensor_functions[] = {
    {"make_fx", method(&make_fx), METH_VARARGS | METH_KEYWORDS,
     "make_fx(f, *, tracing_mode) -> a function of tensors, which runs `f` on fakes of them and\n"
     "gives the GraphModule of what it did: 'symbolic' and 'dynamic' sizes as kinds of\n"
     "from_tensor(), or 'fake' ones, which are those of the example. NotImplementedError for what\n"
     "no graph can have."},
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef graph_functions[] = {
    {"retrace", &retrace, METH_O,
     "retrace(graph) -> GraphModule: traces it again, in its own environment."},
    {nullptr, nullptr, 0, nullptr},
};

PyRef make_graph_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("The operations of a function. A call runs them without\n"
                                    "gradients; RuntimeError for tensors that do not pass.")},
      {Py_tp_dealloc, reinterpret_cast<void*>(&graph_dealloc)},
      {Py_tp_call, reinterpret_cast<void*>(&graph_call)},
      {Py_tp_methods, graph_methods},
      {Py_tp_getset, graph_properties},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.GraphModule", sizeof(GraphObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

}  // namespace slotcore::python
