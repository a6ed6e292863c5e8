// Tensors of a class that the user names, and Parameter.

#include "core/autograd/functions/view.h"
#include "core/c10/impl/operation_tracer_tls.h"
#include "core/c10/tensor/announce.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

// Throws PythonErrorSet for an object that is not a subclass of Tensor.
PyTypeObject* checked_class(ModuleState* state, PyObject* object) {
  if (!PyType_Check(object)) {
    throw_python(PyExc_TypeError, "cls must be a type, not %s", Py_TYPE(object)->tp_name);
  }
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  if (!PyType_IsSubtype(type, state->tensor_base))
    throw_python(PyExc_RuntimeError, "%s does not inherit from Tensor", type->tp_name);
  return type;
}

PyObject* detached_as(ModuleState* state, PyTypeObject* type, const TensorImpl& tensor,
                      bool requires_grad) {
  auto detached = tensor.detach();
  autograd::set_requires_grad(*detached, requires_grad);
  return construct(state->interpreter, type, std::move(detached));
}

PyObject* make_subclass(PyObject*, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"cls", "data", "require_grad", nullptr};
    PyObject *cls, *data, *require_grad = Py_False;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O!:_make_subclass",
                                     const_cast<char**>(names), &cls, &data, &PyBool_Type,
                                     &require_grad)) {
      throw PythonErrorSet{};
    }
    ModuleState* state = state_of_type(Py_TYPE(data));
    PyTypeObject* type = checked_class(state, cls);
    return detached_as(state, type, checked_tensor(state, data, "_make_subclass"),
                       require_grad == Py_True);
  });
}

PyObject* as_subclass(PyObject* self, PyObject* cls) {
  return guarded([&] {
    ModuleState* state = state_of_wrapper(self);
    PyTypeObject* type = checked_class(state, cls);
    if (type != state->tensor) impl::check_untraced("a view of a subclass");
    return construct(state->interpreter, type, autograd::alias(self_tensor(self)));
  });
}

// Whether the class of `data` is Tensor or Parameter, and not a subclass.
bool is_plain(PyObject* module, PyObject* data) {
  if (Py_IS_TYPE(data, state_of_module(module)->tensor)) return true;
  PyRef nn = PyRef::steal(checked(PyObject_GetAttrString(module, "nn")));
  PyRef parameter = PyRef::steal(checked(PyObject_GetAttrString(nn.get(), "Parameter")));
  return reinterpret_cast<PyObject*>(Py_TYPE(data)) == parameter.get();
}

// A Parameter made from a subclass has that class and a mark, as in torch.
PyObject* custom_parameter(PyObject* data, PyObject* requires_grad) {
  PyRef detached = called(PyObject_CallMethod, data, "detach", nullptr);
  PyRef result = called(PyObject_CallMethod, detached.get(), "requires_grad_", "O", requires_grad);
  if (!Py_IS_TYPE(result.get(), Py_TYPE(data))) {
    throw_python(PyExc_RuntimeError, "detach() of a %s gives a %s, so no Parameter can be made",
                 Py_TYPE(data)->tp_name, Py_TYPE(result.get())->tp_name);
  }
  checked(PyObject_SetAttrString(result.get(), "_is_param", Py_True));
  return result.release();
}

// Parameter.__new__(cls, data=None, requires_grad=True).
PyObject* parameter_new(PyObject* module, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"cls", "data", "requires_grad", nullptr};
    PyObject *cls, *data = Py_None, *requires_grad = Py_True;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO!:Parameter", const_cast<char**>(names),
                                     &cls, &data, &PyBool_Type, &requires_grad)) {
      throw PythonErrorSet{};
    }
    ModuleState* state = state_of_module(module);
    if (data != Py_None && !is_plain(module, data)) return custom_parameter(data, requires_grad);
    PyTypeObject* type = checked_class(state, cls);
    intrusive_ptr<TensorImpl> source;
    if (data == Py_None) {
      source = make_intrusive<TensorImpl>(Dims{0}, ScalarType::float32, place_of_new(Device::kCpu));
    } else {
      source = intrusive_ptr<TensorImpl>::retain(&checked_tensor(state, data, "Parameter"));
    }
    return detached_as(state, type, *source, requires_grad == Py_True);
  });
}

PyMethodDef parameter_new_method = {
    "__new__", method(&parameter_new), METH_VARARGS | METH_KEYWORDS,
    "__new__(cls, data=None, requires_grad=True): over the elements of `data`."};

}  // namespace

PyMethodDef tensor_subclass_methods[] = {
    {"_make_subclass", method(&make_subclass), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "_make_subclass(cls, data, require_grad=False) -> cls over the elements of `data`, detached.\n"
     "RuntimeError for a class that does not inherit from Tensor. Does not call __init__."},
    {"as_subclass", &as_subclass, METH_O,
     "as_subclass(cls) -> cls: a view. Errors as for _make_subclass."},
    {nullptr, nullptr, 0, nullptr},
};

PyRef make_parameter_class(PyObject* module, PyObject* metaclass) {
  PyRef create = PyRef::steal(checked(PyCFunction_NewEx(&parameter_new_method, module, nullptr)));
  return called(
      PyObject_CallFunction, metaclass, "s(O){s:s,s:s,s:O}", "Parameter",
      state_of_module(module)->tensor, "__module__", "slotcore.nn", "__doc__",
      "Parameter(data=None, requires_grad=True): a Tensor over the elements of another one.",
      "__new__", create.get());
}

}  // namespace slotcore::python
