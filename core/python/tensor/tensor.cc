// Tensor: construction, wrapping, and the type, which combines the methods of all files of
// tensor.h.

#include "core/python/tensor/tensor.h"

#include <algorithm>
#include <vector>

#include "core/autograd/functions/view.h"
#include "core/c10/impl/hermetic_py_object_tls.h"
#include "core/c10/tensor/announce.h"
#include "core/python/preserve/instance.h"
#include "core/python/preserve/weak_handle.h"
#include "core/python/sizes/sym_int.h"

namespace slotcore::python {
namespace {

intrusive_ptr<TensorImpl> new_floats(const Dims& sizes) {
  return make_intrusive<TensorImpl>(sizes, ScalarType::float32, place_of_new(Device::kCpu));
}

// Tensor(*sizes), Tensor(list of numbers), Tensor(tensor), as float32; without arguments, empty.
intrusive_ptr<TensorImpl> tensor_of_arguments(ModuleState* state, PyObject* args) {
  Py_ssize_t count = PyTuple_GET_SIZE(args);
  if (count == 0) return new_floats({0});
  PyObject* first = PyTuple_GET_ITEM(args, 0);
  if (count == 1) {
    if (TensorImpl* other = as_tensor(state, first); other != nullptr)
      return autograd::alias(*other);
    if (PyList_Check(first) || PyTuple_Check(first)) {
      constexpr ScalarType kType = ScalarType::float32;
      return tensor_of_data(state, first, &kType);
    }
  }
  return new_floats(dims_of_arguments(&PyTuple_GET_ITEM(args, 0), count));
}

PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    ModuleState* state = state_of_type(type);
    if (type == state->tensor_base)
      throw_python(PyExc_TypeError, "TensorBase cannot be created; use Tensor");
    if (kwargs != nullptr && PyDict_GET_SIZE(kwargs) != 0)
      throw_python(PyExc_TypeError, "Tensor() takes no keyword");
    return construct(state->interpreter, type, tensor_of_arguments(state, args));
  });
}

PyObject* use_count(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromUnsignedLong(raw::use_count(&self_tensor(self))); });
}

PyObject* new_with_weak_ptr(PyObject* type, PyObject* handle) {
  return guarded([&]() -> PyObject* {
    ModuleState* state = state_of_type(reinterpret_cast<PyTypeObject*>(type));
    auto tensor = weak_handle::lock<TensorImpl>(handle);
    if (!tensor) Py_RETURN_NONE;
    return wrap_tensor(state, std::move(tensor));
  });
}

PyObject* get_grad(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    intrusive_ptr<TensorImpl> grad = self_tensor(self).grad();
    if (!grad) Py_RETURN_NONE;
    return wrap_tensor(state_of_wrapper(self), std::move(grad));
  });
}

int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded([&] {
    intrusive_ptr<TensorImpl> grad;
    if (value != nullptr && value != Py_None) {
      grad =
          intrusive_ptr<TensorImpl>::retain(&checked_tensor(state_of_wrapper(self), value, "grad"));
    }
    // Dropped at the end, because that may run user code.
    auto former = autograd::exchange_grad(self_tensor(self), std::move(grad));
    return 0;
  });
}

PyObject* get_cdata(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromVoidPtr(&self_tensor(self)); });
}

PyMethodDef identity_methods[] = {
    {"_use_count", &use_count, METH_NOARGS,
     "_use_count() -> int: strong references of the TensorImpl, the wrapper's included."},
    {"_fix_weakref", &weak_handle::fix_weakref, METH_NOARGS,
     "_fix_weakref(): call it on the result of a weak reference: makes the wrapper own\n"
     "the TensorImpl again. Changes no reference count otherwise."},
    {"_weak_ref", &weak_handle::weak_ref, METH_NOARGS,
     "_weak_ref() -> int: a handle of a C++ weak reference; free it with _free_weak_ref."},
    {"_expired", &weak_handle::expired, METH_O | METH_STATIC,
     "_expired(handle) -> bool: whether the TensorImpl is gone. Once true, it stays true."},
    {"_free_weak_ref", &weak_handle::free_weak_ref, METH_O | METH_STATIC,
     "_free_weak_ref(handle): frees a handle; it must not be used again."},
    {"_new_with_weak_ptr", &new_with_weak_ptr, METH_O | METH_CLASS,
     "_new_with_weak_ptr(handle) -> Tensor, or None when the TensorImpl is gone."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef identity_properties[] = {
    {"grad", &get_grad, &set_grad,
     "The gradient: None, or a Tensor that this one owns. RuntimeError if it is the tensor itself\n"
     "or has another size or dtype, TypeError if it is not a Tensor.",
     nullptr},
    {"_cdata", &get_cdata, nullptr, "Address of the TensorImpl.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

const char* name_of_row(const PyMethodDef& row) { return row.ml_name; }
const char* name_of_row(const PyGetSetDef& row) { return row.name; }

// The rows of all tables that end with an empty row, followed by an empty row.
template <class Row>
std::vector<Row> joined(std::initializer_list<const Row*> tables,
                        std::initializer_list<const Row*> more) {
  std::vector<Row> rows;
  for (auto all : {tables, more}) {
    for (const Row* row : all) {
      for (; name_of_row(*row) != nullptr; row++) rows.push_back(*row);
    }
  }
  rows.push_back(Row{});
  return rows;
}

}  // namespace

PyRef make_tensor_base(PyObject* module, std::initializer_list<const PyMethodDef*> more_methods,
                       std::initializer_list<const PyGetSetDef*> more_properties) {
  // CPython keeps pointers to the rows.
  static std::vector<PyMethodDef> methods = joined<PyMethodDef>(
      {identity_methods, tensor_data_methods, tensor_view_methods, tensor_number_methods,
       tensor_arithmetic_methods, tensor_flag_methods, tensor_subclass_methods},
      more_methods);
  static std::vector<PyGetSetDef> properties = joined<PyGetSetDef>(
      {identity_properties, tensor_data_properties, tensor_view_properties, tensor_flag_properties},
      more_properties);
  // As a member of the kind that `__slots__` makes, the hooks are visited, cleared and freed
  // together with the slots (instance.cc).
  static PyMemberDef members[] = {
      {"<backward hooks>", kObjectSlot, offsetof(TensorWrapper, backward_hooks), 0, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  };
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("The base class of Tensor; it cannot be created.")},
      {Py_tp_new, reinterpret_cast<void*>(&tensor_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&preserve::dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(&tensor_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(&preserve::clear_through_impl)},
      {Py_tp_methods, methods.data()},
      {Py_tp_getset, properties.data()},
      {Py_tp_members, members},
      {Py_tp_richcompare, reinterpret_cast<void*>(&tensor_compare)},
      {Py_tp_hash, reinterpret_cast<void*>(&tensor_hash)},
      {Py_mp_length, reinterpret_cast<void*>(&tensor_length)},
      {Py_mp_subscript, reinterpret_cast<void*>(&tensor_subscript)},
      {Py_mp_ass_subscript, reinterpret_cast<void*>(&tensor_assign_subscript)},
      {Py_nb_float, reinterpret_cast<void*>(&tensor_float)},
      {Py_nb_int, reinterpret_cast<void*>(&tensor_int)},
      {Py_nb_index, reinterpret_cast<void*>(&tensor_index)},
      {Py_nb_bool, reinterpret_cast<void*>(&tensor_bool)},
      {Py_nb_add, reinterpret_cast<void*>(&tensor_add)},
      {Py_nb_multiply, reinterpret_cast<void*>(&tensor_multiply)},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.TensorBase", sizeof(TensorWrapper), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

PyObject* wrap_tensor(ModuleState* state, intrusive_ptr<TensorImpl> tensor) {
  return checked(wrap(state->interpreter, state->tensor, tensor));
}

PyObject* new_tensor(ModuleState* state, intrusive_ptr<TensorImpl> tensor) {
  return checked(construct(state->interpreter, state->tensor, std::move(tensor)));
}

PyObject* wrapped_again(PyObject* self) {
  bool finds_self = !as_wrapper(self)->hermetic && !impl::HermeticPyObjectTLS::get_state();
  if (finds_self) return Py_NewRef(self);
  return wrap_tensor(state_of_wrapper(self), intrusive_ptr<TensorImpl>::retain(&self_tensor(self)));
}

TensorImpl* as_tensor(ModuleState* state, PyObject* object) {
  if (!PyObject_TypeCheck(object, state->tensor_base)) return nullptr;
  return impl_of<TensorImpl>(object);
}

TensorImpl& checked_tensor(ModuleState* state, PyObject* object, const char* function) {
  TensorImpl* tensor = as_tensor(state, object);
  if (tensor == nullptr) {
    throw_python(PyExc_TypeError, "%s: expected a Tensor, got %s", function,
                 Py_TYPE(object)->tp_name);
  }
  return *tensor;
}

PyObject* tuple_of(const Dims& dims) {
  PyRef tuple = PyRef::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(dims.size()))));
  for (size_t i = 0; i < dims.size(); i++) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                     checked(PyLong_FromLongLong(dims[i])));
  }
  return tuple.release();
}

Dims dims_of_sequence(PyObject* sequence) {
  PyRef items = PyRef::steal(PySequence_Tuple(sequence));
  if (!items) throw PythonErrorSet{};
  Dims dims;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); i++)
    dims.push_back(checked_int(PyTuple_GET_ITEM(items.get(), i)));
  return dims;
}

std::optional<SymDims> sym_dims_of_arguments(const ModuleState* state, PyObject* const* args,
                                             Py_ssize_t count) {
  PyRef items;
  if (count == 1 && PyTuple_Check(args[0])) {
    items = PyRef::borrow(args[0]);
    count = PyTuple_GET_SIZE(items.get());
    args = &PyTuple_GET_ITEM(items.get(), 0);
  }
  auto is_symbolic = [&](PyObject* object) { return is_size_object(state, object); };
  if (std::none_of(args, args + count, is_symbolic)) return std::nullopt;
  SymDims dims;
  for (Py_ssize_t i = 0; i < count; i++) {
    auto size = size_of(state, args[i]);
    dims.push_back(size ? *size : SymInt(checked_int(args[i])));
  }
  return dims;
}

Dims dims_of_arguments(PyObject* const* args, Py_ssize_t count) {
  if (count == 1 && !PyIndex_Check(args[0])) return dims_of_sequence(args[0]);
  Dims dims;
  for (Py_ssize_t i = 0; i < count; i++) dims.push_back(checked_int(args[i]));
  return dims;
}

}  // namespace slotcore::python
