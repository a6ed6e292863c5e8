// Views of a tensor in Python, and the tensor as a container of its parts.

#include "core/c10/tensor/tensor_views.h"

#include <array>

#include "core/autograd/functions/view.h"
#include "core/c10/impl/operation_tracer_tls.h"
#include "core/python/sizes/sym_int.h"
#include "core/python/tensor/dtype.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

using views::TensorPtr;

// Exactly N ints.
template <size_t N>
std::array<int64_t, N> ints_of(PyObject* const* args, Py_ssize_t count, const char* function) {
  if (count != static_cast<Py_ssize_t>(N))
    throw_python(PyExc_TypeError, "%s takes %zu ints, got %zd arguments", function, N, count);
  std::array<int64_t, N> ints;
  for (size_t i = 0; i < N; i++) ints[i] = checked_int(args[i]);
  return ints;
}

// Wraps the view that `body(tensor)` makes of the tensor behind `self`. `name` is torch's name of
// the node.
template <class Body>
PyObject* view_of(PyObject* self, const char* name, Body body) {
  return new_tensor(state_of_wrapper(self), autograd::record_view(self_tensor(self), name, body));
}

// The same for a view that `body(tensor, sizes)` makes, in ints or in SymInts.
template <class Body>
PyObject* view_by_sizes(PyObject* self, PyObject* const* args, Py_ssize_t count, const char* name,
                        Body body) {
  if (count == 0) throw_python(PyExc_TypeError, "sizes are missing");
  if (auto symbols = sym_dims_of_arguments(state_of_wrapper(self), args, count))
    return view_of(self, name, [&](TensorImpl& tensor) { return body(tensor, *symbols); });
  Dims sizes = dims_of_arguments(args, count);
  return view_of(self, name, [&](TensorImpl& tensor) { return body(tensor, sizes); });
}

PyObject* view(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    if (count == 1 && Py_IS_TYPE(args[0], state_of_wrapper(self)->dtype_type)) {
      ScalarType type = scalar_type_of(state_of_wrapper(self), args[0]);
      return new_tensor(state_of_wrapper(self), views::view_as_type(self_tensor(self), type));
    }
    return view_by_sizes(self, args, count, "ViewBackward0", [](TensorImpl& tensor, auto& sizes) {
      return views::view(tensor, sizes);
    });
  });
}

PyObject* view_as(PyObject* self, PyObject* object) {
  return guarded([&] {
    const TensorImpl& other = checked_tensor(state_of_wrapper(self), object, "view_as");
    return with_layouts(
        [&](const auto& layout) {
          auto sizes = layout.sizes;  // a finalizer may change the other tensor
          return view_of(self, "ViewBackward0",
                         [&](TensorImpl& tensor) { return views::view(tensor, sizes); });
        },
        other);
  });
}

PyObject* expand(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    return view_by_sizes(self, args, count, "ExpandBackward0", [](TensorImpl& tensor, auto& sizes) {
      return views::expand(tensor, sizes);
    });
  });
}

PyObject* narrow(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    auto sizes = sym_dims_of_arguments(state_of_wrapper(self), args, count);
    if (sizes && sizes->size() == 3) {
      int64_t dim = (*sizes)[0].specialize();
      return view_of(self, "SliceBackward0", [&](TensorImpl& tensor) {
        return views::narrow(tensor, dim, (*sizes)[1], (*sizes)[2]);
      });
    }
    auto [dim, start, length] = ints_of<3>(args, count, "narrow");
    return view_of(self, "SliceBackward0",
                   [dim = dim, start = start, length = length](TensorImpl& tensor) {
                     return views::narrow(tensor, dim, start, length);
                   });
  });
}

PyObject* select(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    auto ints = ints_of<2>(args, count, "select");
    return view_of(self, "SelectBackward0",
                   [&](TensorImpl& tensor) { return views::select(tensor, ints[0], ints[1]); });
  });
}

PyObject* transpose(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    auto ints = ints_of<2>(args, count, "transpose");
    return view_of(self, "TransposeBackward0",
                   [&](TensorImpl& tensor) { return views::transpose(tensor, ints[0], ints[1]); });
  });
}

PyObject* t(PyObject* self, PyObject*) {
  return guarded([&] { return view_of(self, "TBackward0", &views::t); });
}

PyObject* as_strided(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"size", "stride", "storage_offset", nullptr};
    PyObject *size, *stride, *offset = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:as_strided", const_cast<char**>(names),
                                     &size, &stride, &offset)) {
      throw PythonErrorSet{};
    }
    Layout layout{dims_of_sequence(size), dims_of_sequence(stride)};
    bool has_offset = offset != nullptr && offset != Py_None;
    if (has_offset) layout.offset = checked_int(offset);
    TensorImpl& tensor = self_tensor(self);
    if (!has_offset) layout.offset = tensor.offset();
    return new_tensor(state_of_wrapper(self), autograd::as_strided(tensor, layout));
  });
}

PyObject* detach(PyObject* self, PyObject*) {
  return guarded([&] { return new_tensor(state_of_wrapper(self), self_tensor(self).detach()); });
}

PyObject* is_view(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(static_cast<bool>(self_tensor(self).base())); });
}

PyObject* get_base(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    TensorPtr base = self_tensor(self).base();
    if (!base) Py_RETURN_NONE;
    return wrap_tensor(state_of_wrapper(self), std::move(base));
  });
}

PyObject* get_version(PyObject* self, void*) {
  return guarded([&] {
    impl::check_untraced(
        "the number of writes of a tensor");  // which tensors that pass may not have
    return PyLong_FromUnsignedLong(self_tensor(self).version().value());
  });
}

TensorPtr slice_of(PyObject* self, PyObject* key) {
  Py_ssize_t start, stop, step;
  checked(PySlice_Unpack(key, &start, &stop, &step));
  if (step < 0) throw_python(PyExc_ValueError, "the step of a slice must be greater than zero");
  TensorImpl& tensor = self_tensor(self);
  int64_t size = tensor.sizes().size() == 0 ? 0 : tensor.sizes()[0];
  Py_ssize_t length = PySlice_AdjustIndices(size, &start, &stop, step);
  return autograd::record_view(tensor, "SliceBackward0", [&](TensorImpl& one) {
    return views::slice(one, start, length, step);
  });
}

// The part that `key` names: an int, a slice, or the Ellipsis.
TensorPtr part_of(PyObject* self, PyObject* key) {
  if (key == Py_Ellipsis) return autograd::alias(self_tensor(self));
  if (PySlice_Check(key)) return slice_of(self, key);
  // In PyTorch a tensor as a key gathers elements into a new tensor, which is not implemented here.
  bool is_tensor = as_tensor(state_of_wrapper(self), key) != nullptr;
  if (!PyIndex_Check(key) || PyBool_Check(key) || is_tensor) {
    throw_python(PyExc_IndexError, "a tensor is indexed by an int or a slice, not by %s",
                 Py_TYPE(key)->tp_name);
  }
  Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred()) throw PythonErrorSet{};
  return autograd::record_view(self_tensor(self), "SelectBackward0",
                               [&](TensorImpl& one) { return views::select(one, 0, index); });
}

}  // namespace

Py_ssize_t tensor_length(PyObject* self) {
  return guarded([&] {
    const Dims& sizes = self_tensor(self).sizes();
    if (sizes.size() == 0)
      throw_python(PyExc_TypeError, "a tensor without dimensions has no length");
    return static_cast<Py_ssize_t>(sizes[0]);
  });
}

PyObject* tensor_subscript(PyObject* self, PyObject* key) {
  return guarded([&] { return new_tensor(state_of_wrapper(self), part_of(self, key)); });
}

int tensor_assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guarded([&] {
    if (value == nullptr) throw_python(PyExc_TypeError, "elements cannot be deleted");
    TensorPtr part = part_of(self, key);
    assign_elements(state_of_wrapper(self), *part, value);
    return 0;
  });
}

PyMethodDef tensor_view_methods[] = {
    {"view", method(&view), METH_FASTCALL,
     "view(*sizes) -> Tensor over the same elements. One size may be -1. RuntimeError if the\n"
     "sizes do not fit or the strides do not allow it. view(dtype) reads the same bytes as other\n"
     "numbers; the result is not a view and has no gradient."},
    {"view_as", &view_as, METH_O, "view_as(other) -> Tensor: view(other.size())."},
    {"expand", method(&expand), METH_FASTCALL,
     "expand(*sizes) -> Tensor that repeats dimensions of size 1 and new first ones; -1 keeps a\n"
     "size. RuntimeError if the sizes do not fit."},
    {"narrow", method(&narrow), METH_FASTCALL,
     "narrow(dim, start, length) -> Tensor: a part of one dimension. IndexError for a\n"
     "dimension or start that does not exist, RuntimeError for a length that is too large."},
    {"select", method(&select), METH_FASTCALL,
     "select(dim, index) -> Tensor without that dimension. IndexError if it does not exist."},
    {"transpose", method(&transpose), METH_FASTCALL,
     "transpose(dim0, dim1) -> Tensor with two dimensions swapped. IndexError if one\n"
     "does not exist."},
    {"t", &t, METH_NOARGS,
     "t() -> Tensor: transpose(0, 1). RuntimeError for more than two dimensions."},
    {"as_strided", method(&as_strided), METH_VARARGS | METH_KEYWORDS,
     "as_strided(size, stride, storage_offset=None) -> Tensor. RuntimeError for elements outside\n"
     "of the storage."},
    {"detach", &detach, METH_NOARGS,
     "detach() -> Tensor over the same elements, which is not a view but shares the version."},
    {"_is_view", &is_view, METH_NOARGS, "_is_view() -> bool: whether there is a _base."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef tensor_view_properties[] = {
    {"_base", &get_base, nullptr,
     "The tensor that this is a view of, never a view itself; or None.", nullptr},
    {"_version", &get_version, nullptr,
     "How often the elements were changed in place, through this tensor or one that shares the\n"
     "count.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace slotcore::python
