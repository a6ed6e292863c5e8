// Tensor: wrapping, and the methods that speak of the impl. What touches elements is in
// tensor_elements.cc.

#include "core/python/tensor.h"

#include <optional>

#include "core/python/dtype.h"
#include "core/python/storage.h"
#include "core/python/weak_handle.h"

namespace slotcore::python {
namespace {

TensorImpl* self_tensor(PyObject* self) { return impl_of<TensorImpl>(self); }

int64_t checked_int(PyObject* number) {
  PyRef index = PyRef::steal(checked(PyNumber_Index(number)));
  int64_t value = PyLong_AsLongLong(index.get());
  if (value == -1 && PyErr_Occurred()) throw PythonErrorSet{};
  return value;
}

PyObject* tuple_of(const Dims& dims) {
  PyRef tuple = PyRef::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(dims.size()))));
  for (size_t i = 0; i < dims.size(); i++) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                     checked(PyLong_FromLongLong(dims[i])));
  }
  return tuple.release();
}

// `Tensor()` is an empty float32 tensor. Everything else is made by the functions of the module.
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    ModuleState* state = state_of_type(type);
    if (type == state->tensor_base)
      throw_python(PyExc_TypeError, "TensorBase cannot be created; use Tensor");
    if (kwargs != nullptr && PyDict_GET_SIZE(kwargs) != 0)
      throw_python(PyExc_TypeError, "Tensor() takes sizes only");
    Dims sizes = {0};
    if (PyTuple_GET_SIZE(args) != 0)
      sizes = dims_of_arguments(&PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args));
    return construct(state->interpreter, type,
                     make_intrusive<TensorImpl>(sizes, ScalarType::float32));
  });
}

PyObject* untyped_storage(PyObject* self, PyObject*) {
  return guarded(
      [&] { return wrap_storage(state_of_wrapper(self), self_tensor(self)->storage()); });
}

PyObject* view(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    Dims sizes = dims_of_arguments(args, count);
    return wrap_tensor(state_of_wrapper(self), self_tensor(self)->view(sizes));
  });
}

// set_(storage), set_(storage, offset, size, stride=None), set_(tensor).
PyObject* set(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"source", "storage_offset", "size", "stride", nullptr};
    PyObject *source, *offset_object = nullptr, *size = nullptr, *stride = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOO:set_", const_cast<char**>(names), &source,
                                     &offset_object, &size, &stride)) {
      throw PythonErrorSet{};
    }
    ModuleState* state = state_of_wrapper(self);
    TensorImpl* tensor = self_tensor(self);
    intrusive_ptr<StorageImpl> storage;
    int64_t offset = 0;
    Dims sizes, strides;
    if (TensorImpl* other = as_tensor(state, source); other != nullptr && size == nullptr) {
      if (other->type() != tensor->type())
        throw_python(PyExc_RuntimeError, "the source has another dtype");
      storage = other->storage();
      offset = other->offset();
      sizes = other->sizes();
      strides = other->strides();
    } else {
      StorageImpl* bytes = as_storage(state, source);
      if (bytes == nullptr) {
        throw_python(PyExc_TypeError, "set_ takes an UntypedStorage or a Tensor, not %s",
                     Py_TYPE(source)->tp_name);
      }
      if ((offset_object == nullptr) != (size == nullptr))
        throw_python(PyExc_TypeError, "set_ takes storage_offset and size together");
      storage = intrusive_ptr<StorageImpl>::retain(bytes);
      sizes = {static_cast<int64_t>(bytes->nbytes() / item_size(tensor->type()))};
      if (size != nullptr) {
        offset = checked_int(offset_object);
        sizes = dims_of_sequence(size);
      }
      bool has_strides = stride != nullptr && stride != Py_None;
      strides = has_strides ? dims_of_sequence(stride) : contiguous_strides(sizes);
    }
    // Dropped at the end: it may run code of the user.
    auto former = tensor->exchange_storage(std::move(storage), offset, sizes, strides);
    return Py_NewRef(self);
  });
}

PyObject* size(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    const Dims& sizes = self_tensor(self)->sizes();
    if (count == 0) return tuple_of(sizes);
    if (count != 1) throw_python(PyExc_TypeError, "size() takes at most one dimension");
    int64_t dim = checked_int(args[0]);
    auto rank = static_cast<int64_t>(sizes.size());
    if (dim < -rank || dim >= rank)
      throw_python(PyExc_IndexError, "there is no dimension %lld", static_cast<long long>(dim));
    return PyLong_FromLongLong(sizes[dim < 0 ? dim + rank : dim]);
  });
}

PyObject* stride(PyObject* self, PyObject*) {
  return guarded([&] { return tuple_of(self_tensor(self)->strides()); });
}

PyObject* storage_offset(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromLongLong(self_tensor(self)->offset()); });
}

PyObject* numel(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromLongLong(self_tensor(self)->numel()); });
}

PyObject* dim(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromSize_t(self_tensor(self)->sizes().size()); });
}

PyObject* data_ptr(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromVoidPtr(self_tensor(self)->data()); });
}

PyObject* use_count(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromUnsignedLong(raw::use_count(self_tensor(self))); });
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
    intrusive_ptr<TensorImpl> grad = self_tensor(self)->grad();
    if (!grad) Py_RETURN_NONE;
    return wrap_tensor(state_of_wrapper(self), std::move(grad));
  });
}

int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded([&] {
    intrusive_ptr<TensorImpl> grad;
    if (value != nullptr && value != Py_None) {
      TensorImpl* tensor = as_tensor(state_of_wrapper(self), value);
      if (tensor == nullptr) {
        throw_python(PyExc_TypeError, "grad must be a Tensor or None, not %s",
                     Py_TYPE(value)->tp_name);
      }
      grad = intrusive_ptr<TensorImpl>::retain(tensor);
    }
    // Dropped at the end: it may run code of the user.
    auto former = self_tensor(self)->exchange_grad(std::move(grad));
    return 0;
  });
}

PyObject* get_shape(PyObject* self, void*) {
  return guarded([&] { return tuple_of(self_tensor(self)->sizes()); });
}

PyObject* get_dtype(PyObject* self, void*) {
  return guarded([&] { return dtype_object(state_of_wrapper(self), self_tensor(self)->type()); });
}

PyObject* get_cdata(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromVoidPtr(self_tensor(self)); });
}

// Visits what belongs to Python alone through this tensor: wrappers that its storage and its grads
// own, as long as nobody else refers to the links between (P5).
int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  if (int stop = preserve::traverse(self, &tensor_traverse, visit, arg); stop != 0) return stop;
  const Wrapper* wrapper = as_wrapper(self);
  if (!preserve::owns_for(wrapper, visit)) return 0;
  auto* tensor = static_cast<TensorImpl*>(wrapper->impl);
  // Grads may form a circle, which shared owners end in the first pass only. Brent's search: a mark
  // that is moved on after 1, 2, 4, .. links meets the walker in a circle.
  const TensorImpl* mark = tensor;
  for (uint64_t links = 1, moved_at = 1;; links++) {
    int stop = visit_storage(wrapper->interpreter, tensor->storage().get(), visit, arg);
    if (stop != 0) return stop;
    tensor = tensor->grad().get();
    if (tensor == nullptr || tensor == mark) return 0;
    auto owned = preserve::visit_sole_owned(wrapper->interpreter, tensor, visit, arg, &stop);
    if (stop != 0 || owned != preserve::Owned::kBare) return stop;
    if (links == moved_at) {
      mark = tensor;
      moved_at *= 2;
    }
  }
}

template <class Function>
PyCFunction method(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"untyped_storage", &untyped_storage, METH_NOARGS,
     "untyped_storage() -> UntypedStorage: the storage, which other tensors may share."},
    {"view", method(&view), METH_FASTCALL,
     "view(*sizes) -> Tensor over the same storage. One size may be -1. RuntimeError if the\n"
     "sizes do not fit or the tensor is not contiguous."},
    {"set_", method(&set), METH_VARARGS | METH_KEYWORDS,
     "set_(source, storage_offset, size, stride) -> self: looks at the bytes of a storage or of\n"
     "another tensor. Grows the storage if it is too small (RuntimeError if that is impossible)."},
    {"size", method(&size), METH_FASTCALL, "size(dim=None) -> tuple, or one size."},
    {"stride", &stride, METH_NOARGS, "stride() -> tuple, in elements."},
    {"storage_offset", &storage_offset, METH_NOARGS, "storage_offset() -> int, in elements."},
    {"numel", &numel, METH_NOARGS, "numel() -> int: the number of elements."},
    {"dim", &dim, METH_NOARGS, "dim() -> int: the number of dimensions, at most 8."},
    {"data_ptr", &data_ptr, METH_NOARGS, "data_ptr() -> int: address of the first element, or 0."},
    {"copy_", &tensor_copy, METH_O,
     "copy_(source) -> self: copies and converts the elements of a tensor with the same number\n"
     "of elements, or of one element."},
    {"fill_", &tensor_fill, METH_O, "fill_(number) -> self."},
    {"tolist", &tensor_tolist, METH_NOARGS, "tolist() -> nested lists of numbers, or a number."},
    {"item", &tensor_item, METH_NOARGS, "item() -> number. RuntimeError unless there is one."},
    {"_use_count", &use_count, METH_NOARGS,
     "_use_count() -> int: strong references of the TensorImpl, the wrapper's included."},
    {"_fix_weakref", &weak_handle::fix_weakref, METH_NOARGS,
     "_fix_weakref(): to be called on what a weak reference gave: makes the wrapper an owner of\n"
     "the TensorImpl again. Changes no reference count otherwise."},
    {"_weak_ref", &weak_handle::weak_ref, METH_NOARGS,
     "_weak_ref() -> int: a handle of a C++ weak reference; free it with _free_weak_ref."},
    {"_expired", &weak_handle::expired, METH_O | METH_STATIC,
     "_expired(handle) -> bool: whether the TensorImpl is gone. Never true and later false."},
    {"_free_weak_ref", &weak_handle::free_weak_ref, METH_O | METH_STATIC,
     "_free_weak_ref(handle): frees a handle; it must not be used again."},
    {"_new_with_weak_ptr", &new_with_weak_ptr, METH_O | METH_CLASS,
     "_new_with_weak_ptr(handle) -> Tensor, or None when the TensorImpl is gone."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"grad", &get_grad, &set_grad,
     "The gradient: None, or a Tensor that this one owns. RuntimeError if it is the tensor itself\n"
     "or has another size or dtype, TypeError if it is not a Tensor.",
     nullptr},
    {"shape", &get_shape, nullptr, "The sizes, a tuple.", nullptr},
    {"dtype", &get_dtype, nullptr, "The type of the elements.", nullptr},
    {"_cdata", &get_cdata, nullptr, "Address of the TensorImpl.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

PyRef make_tensor_base(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("What Tensor is made of; it cannot be created.")},
      {Py_tp_new, reinterpret_cast<void*>(&tensor_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&preserve::dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(&tensor_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(&preserve::clear)},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {Py_mp_length, reinterpret_cast<void*>(&tensor_length)},
      {Py_mp_subscript, reinterpret_cast<void*>(&tensor_subscript)},
      {Py_mp_ass_subscript, reinterpret_cast<void*>(&tensor_assign_subscript)},
      {Py_nb_float, reinterpret_cast<void*>(&tensor_float)},
      {Py_nb_int, reinterpret_cast<void*>(&tensor_int)},
      {Py_nb_bool, reinterpret_cast<void*>(&tensor_bool)},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.TensorBase", sizeof(Wrapper), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

PyObject* wrap_tensor(ModuleState* state, intrusive_ptr<TensorImpl> tensor) {
  return checked(wrap(state->interpreter, state->tensor, tensor));
}

TensorImpl* as_tensor(ModuleState* state, PyObject* object) {
  if (!PyObject_TypeCheck(object, state->tensor_base)) return nullptr;
  return impl_of<TensorImpl>(object);
}

Dims dims_of_sequence(PyObject* sequence) {
  PyRef items = PyRef::steal(PySequence_Tuple(sequence));
  if (!items) throw PythonErrorSet{};
  Dims dims;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); i++)
    dims.push_back(checked_int(PyTuple_GET_ITEM(items.get(), i)));
  return dims;
}

Dims dims_of_arguments(PyObject* const* args, Py_ssize_t count) {
  if (count == 1 && !PyIndex_Check(args[0])) return dims_of_sequence(args[0]);
  Dims dims;
  for (Py_ssize_t i = 0; i < count; i++) dims.push_back(checked_int(args[i]));
  return dims;
}

}  // namespace slotcore::python
