// Sizes of a tensor, its storage, and `.data`.

#include "core/autograd/functions/in_place.h"
#include "core/python/runtime/device.h"
#include "core/python/sizes/sym_int.h"
#include "core/python/storage/storage.h"
#include "core/python/tensor/dtype.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

PyObject* untyped_storage(PyObject* self, PyObject*) {
  return guarded([&] { return wrap_storage(state_of_wrapper(self), self_tensor(self).storage()); });
}

// Gives the tensor another storage. `source` is the tensor whose elements these are, or null.
void set_source(TensorImpl& tensor, intrusive_ptr<StorageImpl> storage, const Layout& layout,
                TensorImpl* source = nullptr) {
  // Dropped at the end, because that may run user code.
  auto former = autograd::set_in_place(tensor, std::move(storage), layout, source);
}

// set_(), set_(tensor), set_(storage), set_(either, storage_offset, size, stride=None).
PyObject* set(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"source", "storage_offset", "size", "stride", nullptr};
    PyObject *source = nullptr, *offset = nullptr, *size = nullptr, *stride = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOO:set_", const_cast<char**>(names), &source,
                                     &offset, &size, &stride)) {
      throw PythonErrorSet{};
    }
    bool has_stride = stride != nullptr && stride != Py_None;
    if ((offset == nullptr) != (size == nullptr) || (has_stride && size == nullptr))
      throw_python(PyExc_TypeError,
                   "set_ takes storage_offset and size together, and stride with these");
    Layout layout;
    if (size != nullptr) {
      layout = contiguous_layout(dims_of_sequence(size), checked_int(offset));
      if (has_stride) layout.strides = dims_of_sequence(stride);
    }
    ModuleState* state = state_of_wrapper(self);
    TensorImpl* tensor = source == nullptr ? nullptr : as_tensor(state, source);
    StorageImpl* storage = source == nullptr ? nullptr : as_storage(state, source);
    TensorImpl& target = self_tensor(self);
    if (source == nullptr) {
      set_source(target, make_storage(0, target.place()), contiguous_layout(Dims{0}));
    } else if (tensor != nullptr) {
      if (size != nullptr) {
        // A contiguous tensor stands for its storage.
        if (!tensor->is_contiguous())
          throw_python(PyExc_RuntimeError, "the source is not contiguous");
        layout.offset = checked_add(layout.offset, tensor->offset());
        set_source(target, tensor->storage(), layout);
      } else {
        if (tensor->type() != target.type())
          throw_python(PyExc_RuntimeError, "the source has another dtype");
        set_source(target, tensor->storage(), tensor->layout(), tensor);
      }
    } else if (storage != nullptr) {
      if (size == nullptr) {
        Dims sizes{static_cast<int64_t>(storage->nbytes() / item_size(target.type()))};
        layout = contiguous_layout(sizes);
      }
      set_source(target, intrusive_ptr<StorageImpl>::retain(storage), layout);
    } else {
      throw_python(PyExc_TypeError, "set_ takes an UntypedStorage or a Tensor, not %s",
                   Py_TYPE(source)->tp_name);
    }
    return wrapped_again(self);
  });
}

PyObject* resize(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    if (count == 0) throw_python(PyExc_TypeError, "resize_ takes sizes");
    Dims sizes = dims_of_arguments(args, count);
    self_tensor(self).resize(sizes);
    return wrapped_again(self);
  });
}

PyObject* get_shape(PyObject* self, void*) {
  return guarded([&] {
    const TensorImpl& tensor = self_tensor(self);
    if (!tensor.is_symbolic()) return tuple_of(tensor.sizes());
    return tuple_of(state_of_wrapper(self), tensor.sym_layout().sizes);
  });
}

PyObject* size(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count > 1) throw_python(PyExc_TypeError, "size() takes at most one dimension");
    if (count == 0) return get_shape(self, nullptr);
    int64_t dim = checked_int(args[0]);
    const TensorImpl& tensor = self_tensor(self);
    size_t place = checked_dim(dim, tensor.dim());
    if (tensor.dim() == 0)
      throw_python(PyExc_IndexError, "a tensor without dimensions has no sizes");
    if (!tensor.is_symbolic()) return PyLong_FromLongLong(tensor.sizes()[place]);
    return size_object(state_of_wrapper(self), tensor.sym_layout().sizes[place]);
  });
}

PyObject* stride(PyObject* self, PyObject*) {
  return guarded([&] {
    const TensorImpl& tensor = self_tensor(self);
    if (!tensor.is_symbolic()) return tuple_of(tensor.strides());
    return tuple_of(state_of_wrapper(self), tensor.sym_layout().strides);
  });
}

PyObject* storage_offset(PyObject* self, PyObject*) {
  return guarded([&] {
    const TensorImpl& tensor = self_tensor(self);
    if (!tensor.is_symbolic()) return PyLong_FromLongLong(tensor.offset());
    return size_object(state_of_wrapper(self), tensor.sym_layout().offset);
  });
}

SymInt numel_of(const TensorImpl& tensor) {
  return tensor.is_symbolic() ? element_count(tensor.sym_layout().sizes) : SymInt(tensor.numel());
}

PyObject* numel(PyObject* self, PyObject*) {
  return guarded([&] { return size_object(state_of_wrapper(self), numel_of(self_tensor(self))); });
}

PyObject* dim(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromSize_t(self_tensor(self).dim()); });
}

PyObject* data_ptr(PyObject* self, PyObject*) {
  return guarded([&] {
    const TensorImpl& tensor = self_tensor(self);
    if (tensor.is_fake()) throw NoDataError("a fake has no address");
    return PyLong_FromVoidPtr(tensor.data());
  });
}

PyObject* is_contiguous(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(self_tensor(self).is_contiguous()); });
}

PyObject* element_size(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromSize_t(item_size(self_tensor(self).type())); });
}

PyObject* is_set_to(PyObject* self, PyObject* object) {
  return guarded([&] {
    TensorImpl& other = checked_tensor(state_of_wrapper(self), object, "is_set_to");
    TensorImpl& tensor = self_tensor(self);
    bool plain = tensor.bits() == ValueBits{} && other.bits() == ValueBits{};
    return PyBool_FromLong(plain && tensor.storage() == other.storage() &&
                           tensor.layout() == other.layout());
  });
}

PyObject* get_dtype(PyObject* self, void*) {
  return guarded([&] { return dtype_object(state_of_wrapper(self), self_tensor(self).type()); });
}

PyObject* get_device(PyObject* self, void*) {
  return guarded([&] { return device_object(state_of_wrapper(self), self_tensor(self).device()); });
}

PyObject* get_is_meta(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(self_tensor(self).device() == Device::kMeta); });
}

PyObject* get_nbytes(PyObject* self, void*) {
  return guarded([&] {
    const TensorImpl& tensor = self_tensor(self);
    auto item = static_cast<int64_t>(item_size(tensor.type()));
    return size_object(state_of_wrapper(self), numel_of(tensor) * SymInt(item));
  });
}

PyObject* get_data(PyObject* self, void*) {
  return guarded(
      [&] { return new_tensor(state_of_wrapper(self), self_tensor(self).alias_data()); });
}

int set_data(PyObject* self, PyObject* value, void*) {
  return guarded([&] {
    if (value == nullptr) throw_python(PyExc_RuntimeError, "the data of a tensor stays");
    TensorImpl& other = checked_tensor(state_of_wrapper(self), value, "data");
    // Dropped at the end, because that may run user code.
    auto former = self_tensor(self).exchange_data(other);
    return 0;
  });
}

}  // namespace

PyMethodDef tensor_data_methods[] = {
    {"untyped_storage", &untyped_storage, METH_NOARGS,
     "untyped_storage() -> UntypedStorage: the storage, which other tensors may share."},
    {"set_", method(&set), METH_VARARGS | METH_KEYWORDS,
     "set_(source, storage_offset, size, stride) -> self: uses the bytes of a storage or of\n"
     "another tensor; set_() uses none. Grows the storage if it is too small (RuntimeError if that "
     "is\n"
     "impossible). TypeError for an offset without a size, and for a stride without these."},
    {"resize_", method(&resize), METH_FASTCALL,
     "resize_(*sizes) -> self: changes the sizes, keeps the offset. Grows the storage if it is "
     "too\n"
     "small. RuntimeError if that is impossible or the tensor requires grad."},
    {"size", method(&size), METH_FASTCALL, "size(dim=None) -> tuple, or one size."},
    {"stride", &stride, METH_NOARGS, "stride() -> tuple, in elements."},
    {"storage_offset", &storage_offset, METH_NOARGS, "storage_offset() -> int, in elements."},
    {"numel", &numel, METH_NOARGS, "numel() -> int: the number of elements."},
    {"dim", &dim, METH_NOARGS, "dim() -> int: the number of dimensions, at most 8."},
    {"data_ptr", &data_ptr, METH_NOARGS,
     "data_ptr() -> int: address of the first element, or 0. RuntimeError for a fake."},
    {"is_contiguous", &is_contiguous, METH_NOARGS,
     "is_contiguous() -> bool: whether the elements follow each other in row-major order."},
    {"element_size", &element_size, METH_NOARGS, "element_size() -> int: bytes of one element."},
    {"is_set_to", &is_set_to, METH_O,
     "is_set_to(tensor) -> bool: whether both have the same elements and layout."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef tensor_data_properties[] = {
    {"shape", &get_shape, nullptr, "The sizes, a tuple.", nullptr},
    {"nbytes", &get_nbytes, nullptr, "The number of bytes of all elements.", nullptr},
    {"dtype", &get_dtype, nullptr, "The type of the elements.", nullptr},
    {"device", &get_device, nullptr, "Where the storage has its bytes: cpu or meta.", nullptr},
    {"is_meta", &get_is_meta, nullptr, "Whether there are no bytes.", nullptr},
    {"data", &get_data, &set_data,
     "A new Tensor over the same elements, with its own version. Set to a Tensor: takes over\n"
     "its storage, sizes and dtype. TypeError unless it is a Tensor, RuntimeError for one on\n"
     "another device.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace slotcore::python
