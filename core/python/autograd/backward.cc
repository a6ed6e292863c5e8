// backward() and grad(): roots and their gradients are collected under the GIL, and the engine runs
// without it.

#include "core/autograd/engine/engine.h"
#include "core/autograd/history.h"
#include "core/autograd/retains_grad.h"
#include "core/c10/tensor/tensor_arithmetic.h"
#include "core/python/autograd/gradients.h"
#include "core/python/autograd/graph.h"
#include "core/python/preserve/released_gil.h"

namespace slotcore::python {
namespace {

using autograd::Edge, autograd::Gradients, autograd::TensorPtr;

// A tensor or a sequence of tensors, as a tuple. Throws PythonErrorSet.
PyRef tuple_of_tensors(ModuleState* state, PyObject* object) {
  if (as_tensor(state, object) != nullptr) return PyRef::steal(checked(PyTuple_Pack(1, object)));
  return PyRef::steal(checked(PySequence_Tuple(object)));
}

// The gradient of a root: `given`, or 1 for a root of one element, which is a real number.
TensorPtr root_gradient(const TensorImpl& root, TensorPtr given) {
  if (given) {
    if (given->sizes() != root.sizes()) {
      throw_python(PyExc_RuntimeError, "the gradient has the size %s and the tensor has %s",
                   text(given->sizes()).c_str(), text(root.sizes()).c_str());
    }
    // Otherwise a conversion would drop the imaginary part.
    if (is_complex(given->type()) != is_complex(root.type())) {
      throw_python(PyExc_RuntimeError,
                   "the gradient of a complex tensor is complex, and no other gradient is");
    }
    return given;
  }
  if (root.numel() != 1) {
    throw_python(PyExc_RuntimeError,
                 "a gradient can be created implicitly only for a root of one element");
  }
  if (is_complex(root.type())) {
    throw_python(PyExc_RuntimeError,
                 "a gradient can be created implicitly only for a root of real numbers");
  }
  auto one = make_intrusive<TensorImpl>(root.sizes(), root.type(), root.place());
  arithmetic::fill(*one, int64_t{1});
  return one;
}

struct Call {
  std::vector<Edge> roots;
  Gradients gradients;
  autograd::BackwardOptions options;
};

// `gradients` is null or None, a tensor for the only root, or a sequence with one for each root.
Call call_of(ModuleState* state, PyObject* roots, PyObject* gradients) {
  Call call;
  PyRef tensors = tuple_of_tensors(state, roots), given;
  Py_ssize_t count = PyTuple_GET_SIZE(tensors.get());
  if (gradients != nullptr && gradients != Py_None) {
    given = tuple_of_tensors(state, gradients);
    if (PyTuple_GET_SIZE(given.get()) != count) {
      throw_python(PyExc_RuntimeError, "got %zd tensors and %zd gradients", count,
                   PyTuple_GET_SIZE(given.get()));
    }
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject* object = PyTuple_GET_ITEM(tensors.get(), i);
    auto root = TensorPtr::retain(&checked_tensor(state, object, "backward"));
    TensorPtr gradient;
    if (given)
      gradient = gradient_of(state, PyTuple_GET_ITEM(given.get(), i), "the gradient of backward");
    if (!root->requires_grad()) {
      throw_python(PyExc_RuntimeError,
                   "element %zd of tensors does not require grad and has no grad_fn", i);
    }
    call.gradients.push_back(root_gradient(*root, std::move(gradient)));
    call.roots.push_back(autograd::gradient_edge(*root));
  }
  return call;
}

// What the engine releases without the GIL is deferred, and dies when the backward returns, not
// some time later: a collection would not free a cycle that a deferred reference keeps.
class RunsDeferred {
 public:
  explicit RunsDeferred(const Interpreter* interpreter) noexcept : interpreter_(interpreter) {}
  ~RunsDeferred() {
    PendingException pending;
    interpreter_->run_deferred();
  }
  RunsDeferred(const RunsDeferred&) = delete;
  RunsDeferred& operator=(const RunsDeferred&) = delete;

 private:
  const Interpreter* interpreter_;
};

Gradients run(ModuleState* state, Call call, const std::vector<Edge>& outputs = {}) {
  RunsDeferred afterwards(state->interpreter);
  try {
    ReleasedGil without_gil;
    Gradients results = run_backward(call.roots, std::move(call.gradients), call.options, outputs);
    // The graph may die here, also without the GIL.
    call.roots.clear();
    return results;
  } catch (const PythonError& error) {
    error.restore();
    throw PythonErrorSet{};
  }
}

// retain_graph is create_graph unless it is given.
autograd::BackwardOptions options_of(PyObject* retain_graph, int create_graph) {
  int keeps = create_graph;
  if (retain_graph != nullptr && retain_graph != Py_None) {
    keeps = PyObject_IsTrue(retain_graph);
    checked(keeps);
  }
  return {.keep_graph = keeps != 0, .create_graph = create_graph != 0};
}

std::vector<Edge> edges_of(ModuleState* state, PyObject* inputs) {
  PyRef tensors = tuple_of_tensors(state, inputs);
  std::vector<Edge> edges;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors.get()); i++) {
    TensorImpl& input = checked_tensor(state, PyTuple_GET_ITEM(tensors.get(), i), "grad");
    if (!input.requires_grad())
      throw_python(PyExc_RuntimeError, "one of the inputs does not require grad");
    edges.push_back(autograd::gradient_edge(input));
  }
  return edges;
}

// backward(inputs=...): the edges of the inputs, which keep their gradients from now on.
std::vector<Edge> retaining_edges_of(ModuleState* state, PyObject* inputs) {
  if (inputs == nullptr || inputs == Py_None) return {};
  PyRef tensors = tuple_of_tensors(state, inputs);
  if (PyTuple_GET_SIZE(tensors.get()) == 0)
    throw_python(PyExc_RuntimeError, "inputs of backward must not be empty");
  std::vector<Edge> edges = edges_of(state, tensors.get());
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors.get()); i++)
    autograd::retain_grad(checked_tensor(state, PyTuple_GET_ITEM(tensors.get(), i), "backward"));
  return edges;
}

PyObject* tensor_backward(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"gradient", "retain_graph", "create_graph", "inputs", nullptr};
    PyObject *gradient = nullptr, *retain_graph = nullptr, *inputs = nullptr;
    int create_graph = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOpO:backward", const_cast<char**>(names),
                                     &gradient, &retain_graph, &create_graph, &inputs)) {
      throw PythonErrorSet{};
    }
    ModuleState* state = state_of_wrapper(self);
    autograd::BackwardOptions options = options_of(retain_graph, create_graph);
    Call call = call_of(state, self, gradient);
    call.options = options;
    run(state, std::move(call), retaining_edges_of(state, inputs));
    Py_RETURN_NONE;
  });
}

PyObject* backward(PyObject* module, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"tensors",      "grad_tensors", "retain_graph",
                                  "create_graph", "inputs",       nullptr};
    PyObject *tensors, *gradients = nullptr, *retain_graph = nullptr, *inputs = nullptr;
    int create_graph = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOp$O:backward", const_cast<char**>(names),
                                     &tensors, &gradients, &retain_graph, &create_graph,
                                     &inputs)) {
      throw PythonErrorSet{};
    }
    autograd::BackwardOptions options = options_of(retain_graph, create_graph);
    ModuleState* state = state_of_module(module);
    Call call = call_of(state, tensors, gradients);
    call.options = options;
    run(state, std::move(call), retaining_edges_of(state, inputs));
    Py_RETURN_NONE;
  });
}

PyObject* grad(PyObject* module, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"outputs",      "inputs",       "grad_outputs", "retain_graph",
                                  "create_graph", "allow_unused", nullptr};
    PyObject *outputs, *inputs, *gradients = nullptr, *retain_graph = nullptr;
    int create_graph = 0, allow_unused = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OOpp:grad", const_cast<char**>(names),
                                     &outputs, &inputs, &gradients, &retain_graph, &create_graph,
                                     &allow_unused)) {
      throw PythonErrorSet{};
    }
    ModuleState* state = state_of_module(module);
    autograd::BackwardOptions options = options_of(retain_graph, create_graph);
    Call call = call_of(state, outputs, gradients);
    call.options = options;
    call.options.accumulate = false;
    std::vector<Edge> edges = edges_of(state, inputs);
    if (edges.empty()) throw_python(PyExc_RuntimeError, "grad needs inputs");
    Gradients found = run(state, std::move(call), edges);
    for (const TensorPtr& one : found) {
      if (one || allow_unused) continue;
      throw_python(PyExc_RuntimeError,
                   "one of the inputs was not used in the graph; pass allow_unused=True");
    }
    return gradient_tuple(state, found).release();
  });
}

PyMethodDef autograd_methods[] = {
    {"backward", method(&backward), METH_VARARGS | METH_KEYWORDS,
     "backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):\n"
     "adds the gradients of all tensors to the `.grad` of leaves, or of inputs. RuntimeError as\n"
     "for Tensor.backward."},
    {"grad", method(&grad), METH_VARARGS | METH_KEYWORDS,
     "grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False,\n"
     "allow_unused=False) -> tuple of the gradients of inputs, or None for one that is unused.\n"
     "RuntimeError as for Tensor.backward, and for an unused input."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyMethodDef tensor_backward_methods[] = {
    {"backward", method(&tensor_backward), METH_VARARGS | METH_KEYWORDS,
     "backward(gradient=None, retain_graph=None, create_graph=False, inputs=None): adds\n"
     "gradients to the `.grad` of leaves, or of inputs. RuntimeError if the tensor requires no\n"
     "gradient, if it has several elements and no gradient is given, or if the graph was freed."},
    {nullptr, nullptr, 0, nullptr},
};

PyRef make_autograd(PyObject* module) {
  PyRef made = PyRef::steal(checked(PyModule_New("slotcore.autograd")));
  for (PyMethodDef* row = autograd_methods; row->ml_name != nullptr; row++) {
    PyRef function = PyRef::steal(checked(PyCFunction_NewEx(row, module, nullptr)));
    checked(PyModule_AddObjectRef(made.get(), row->ml_name, function.get()));
  }
  auto* node = reinterpret_cast<PyObject*>(state_of_module(module)->node);
  checked(PyModule_AddObjectRef(made.get(), "Node", node));
  checked(PyModule_AddObjectRef(made.get(), "graph", make_saved_hooks(module).get()));
  return made;
}

}  // namespace slotcore::python
