// Reading and writing the elements of a tensor. Every access goes through checked_data(), because
// the storage below may have shrunk since the tensor was made.

#include "core/python/dtype.h"
#include "core/python/tensor.h"

namespace slotcore::python {
namespace {

TensorImpl* self_tensor(PyObject* self) { return impl_of<TensorImpl>(self); }

// Offset in elements, from the first, of element number `index` in row-major order.
int64_t offset_of(const TensorImpl* tensor, int64_t index) {
  int64_t offset = 0;
  for (size_t i = tensor->sizes().size(); i-- > 0;) {
    int64_t size = tensor->sizes()[i];
    offset += index % size * tensor->strides()[i];
    index /= size;
  }
  return offset;
}

void* element(const TensorImpl* tensor, int64_t index) {
  return static_cast<char*>(tensor->checked_data()) +
         offset_of(tensor, index) * static_cast<int64_t>(item_size(tensor->type()));
}

PyObject* load(const TensorImpl* tensor, int64_t index) {
  return load_element(element(tensor, index), tensor->type());
}

void store(const TensorImpl* tensor, int64_t index, PyObject* value) {
  // Converted first, into a buffer: the conversion may run code that shrinks the storage.
  alignas(8) char converted[8];
  static_assert(sizeof(int64_t) == 8 && sizeof(double) == 8);
  store_element(converted, tensor->type(), value);
  __builtin_memcpy(element(tensor, index), converted, item_size(tensor->type()));
}

PyObject* nested_list(const TensorImpl* tensor, size_t dim, int64_t* index) {
  if (dim == tensor->sizes().size()) return load(tensor, (*index)++);
  int64_t size = tensor->sizes()[dim];
  PyRef list = PyRef::steal(checked(PyList_New(0)));
  for (int64_t i = 0; i < size; i++) {
    PyRef value = PyRef::steal(nested_list(tensor, dim + 1, index));
    checked(PyList_Append(list.get(), value.get()));
  }
  return list.release();
}

PyObject* only_element(PyObject* self) {
  TensorImpl* tensor = self_tensor(self);
  if (tensor->numel() != 1) {
    throw_python(PyExc_RuntimeError, "a tensor of %lld elements is not a number",
                 static_cast<long long>(tensor->numel()));
  }
  return load(tensor, 0);
}

int64_t checked_index(PyObject* key) {
  if (!PyIndex_Check(key)) {
    throw_python(PyExc_TypeError, "a tensor is indexed by an int, not by %s",
                 Py_TYPE(key)->tp_name);
  }
  Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred()) throw PythonErrorSet{};
  return index;
}

void fill(const TensorImpl* tensor, PyObject* value) {
  for (int64_t i = 0; i < tensor->numel(); i++) store(tensor, i, value);
}

}  // namespace

PyObject* tensor_tolist(PyObject* self, PyObject*) {
  return guarded([&] {
    int64_t index = 0;
    // A copy, so that the shape stays if code that the collector runs changes the tensor's.
    TensorImpl* tensor = self_tensor(self);
    tensor->checked_data();
    auto fixed = make_intrusive<TensorImpl>(tensor->storage(), tensor->offset(), tensor->sizes(),
                                            tensor->strides(), tensor->type());
    return nested_list(fixed.get(), 0, &index);
  });
}

PyObject* tensor_item(PyObject* self, PyObject*) {
  return guarded([&] { return only_element(self); });
}

PyObject* tensor_float(PyObject* self) {
  return guarded([&] {
    PyRef number = PyRef::steal(only_element(self));
    return PyNumber_Float(number.get());
  });
}

PyObject* tensor_int(PyObject* self) {
  return guarded([&] {
    PyRef number = PyRef::steal(only_element(self));
    return PyNumber_Long(number.get());
  });
}

int tensor_bool(PyObject* self) {
  return guarded([&] {
    PyRef number = PyRef::steal(only_element(self));
    return PyObject_IsTrue(number.get());
  });
}

PyObject* tensor_copy(PyObject* self, PyObject* source) {
  return guarded([&] {
    TensorImpl* to = self_tensor(self);
    TensorImpl* from = as_tensor(state_of_wrapper(self), source);
    if (from == nullptr) {
      throw_python(PyExc_TypeError, "expected a Tensor, got %s", Py_TYPE(source)->tp_name);
    }
    bool broadcast = from->numel() == 1;
    if (!broadcast && !(from->sizes() == to->sizes()))
      throw_python(PyExc_RuntimeError, "the tensors have different sizes");
    from->checked_data();
    to->checked_data();
    // Read before write: both may look at the same bytes.
    PyRef values = PyRef::steal(checked(PyList_New(0)));
    for (int64_t i = 0; i < from->numel(); i++) {
      PyRef value = PyRef::steal(load(from, i));
      checked(PyList_Append(values.get(), value.get()));
    }
    for (int64_t i = 0; i < to->numel(); i++)
      store(to, i, PyList_GET_ITEM(values.get(), broadcast ? 0 : i));
    return Py_NewRef(self);
  });
}

PyObject* tensor_fill(PyObject* self, PyObject* value) {
  return guarded([&] {
    fill(self_tensor(self), value);
    return Py_NewRef(self);
  });
}

Py_ssize_t tensor_length(PyObject* self) {
  return guarded([&] {
    const Dims& sizes = self_tensor(self)->sizes();
    if (sizes.size() == 0)
      throw_python(PyExc_TypeError, "a tensor without dimensions has no length");
    return static_cast<Py_ssize_t>(sizes[0]);
  });
}

PyObject* tensor_subscript(PyObject* self, PyObject* key) {
  return guarded([&] {
    int64_t index = checked_index(key);
    return wrap_tensor(state_of_wrapper(self), self_tensor(self)->select(index));
  });
}

int tensor_assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guarded([&] {
    if (value == nullptr) throw_python(PyExc_TypeError, "elements cannot be deleted");
    int64_t index = checked_index(key);
    auto part = self_tensor(self)->select(index);
    TensorImpl* other = as_tensor(state_of_wrapper(self), value);
    if (other == nullptr) {
      fill(part.get(), value);
      return 0;
    }
    if (other->numel() != 1) throw_python(PyExc_RuntimeError, "expected a tensor of one element");
    PyRef number = PyRef::steal(load(other, 0));
    fill(part.get(), number.get());
    return 0;
  });
}

}  // namespace slotcore::python
