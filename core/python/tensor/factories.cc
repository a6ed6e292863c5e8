// The functions of the module that make tensors.

#include <algorithm>
#include <vector>

#include "core/autograd/functions/view.h"
#include "core/c10/tensor/announce.h"
#include "core/c10/tensor/tensor_arithmetic.h"
#include "core/c10/tensor/tensor_views.h"
#include "core/python/runtime/device.h"
#include "core/python/storage/storage.h"
#include "core/python/tensor/dtype.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

// The arguments of ones() and empty(): sizes, and `dtype` and `device` by name.
struct Wanted {
  Dims sizes;
  ScalarType type = ScalarType::float32;
  Device device = Device::kCpu;
};

Wanted parse_wanted(ModuleState* state, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (count == 0) throw_python(PyExc_TypeError, "sizes are missing");
  Wanted result;
  result.sizes = dims_of_arguments(args, count);
  for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_GET_SIZE(names); i++) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    if (PyUnicode_CompareWithASCIIString(name, "dtype") == 0) {
      result.type = scalar_type_of(state, args[count + i]);
    } else if (PyUnicode_CompareWithASCIIString(name, "device") == 0) {
      result.device = device_of(state, args[count + i]);
    } else {
      throw_python(PyExc_TypeError, "unexpected argument %R", name);
    }
  }
  return result;
}

PyObject* ones(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    ModuleState* state = state_of_module(module);
    Wanted wanted = parse_wanted(state, args, count, names);
    return new_tensor(state, arithmetic::ones(wanted.sizes, wanted.type, wanted.device));
  });
}

PyObject* empty(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    ModuleState* state = state_of_module(module);
    Wanted wanted = parse_wanted(state, args, count, names);
    return new_tensor(state, arithmetic::zeros(wanted.sizes, wanted.type, wanted.device));
  });
}

// The numbers of a nested list in row-major order, and its shape.
struct Numbers {
  Dims sizes;
  std::vector<PyRef> values;
  ScalarType type = ScalarType::bool_;  // the widest type so far, if the data decides it
};

bool is_sequence(PyObject* object) { return PyList_Check(object) || PyTuple_Check(object); }

ScalarType type_of_number(ModuleState* state, PyObject* value) {
  if (TensorImpl* tensor = as_tensor(state, value); tensor != nullptr) return tensor->type();
  if (PyComplex_Check(value)) return ScalarType::complex64;
  if (PyFloat_Check(value)) return ScalarType::float32;
  if (PyBool_Check(value)) return ScalarType::bool_;
  if (!PyIndex_Check(value)) {
    throw_python(PyExc_TypeError, "no dtype was given, and %s does not decide it",
                 Py_TYPE(value)->tp_name);
  }
  return ScalarType::int64;
}

void collect(ModuleState* state, bool decides_type, Numbers& numbers, PyObject* object,
             size_t dim) {
  if (dim == numbers.sizes.size()) {
    if (is_sequence(object)) throw_python(PyExc_ValueError, "the list is nested unevenly");
    if (!PyNumber_Check(object))
      throw_python(PyExc_TypeError, "expected a number, got %s", Py_TYPE(object)->tp_name);
    if (decides_type) numbers.type = promote_types(numbers.type, type_of_number(state, object));
    numbers.values.push_back(PyRef::borrow(object));
    return;
  }
  if (!is_sequence(object) || PySequence_Fast_GET_SIZE(object) != numbers.sizes[dim])
    throw_python(PyExc_ValueError, "the list is nested unevenly at dimension %zu", dim);
  for (Py_ssize_t i = 0; i < numbers.sizes[dim]; i++)
    collect(state, decides_type, numbers, PySequence_Fast_GET_ITEM(object, i), dim + 1);
}

Numbers numbers_of(ModuleState* state, PyObject* data, bool decides_type) {
  Numbers numbers;
  for (PyObject* level = data; is_sequence(level);) {
    Py_ssize_t size = PySequence_Fast_GET_SIZE(level);
    numbers.sizes.push_back(size);
    if (size == 0) break;
    level = PySequence_Fast_GET_ITEM(level, 0);
  }
  collect(state, decides_type, numbers, data, 0);
  if (numbers.values.empty()) numbers.type = ScalarType::float32;
  return numbers;
}

// A copy that no graph records.
intrusive_ptr<TensorImpl> copied(TensorImpl& source, ScalarType type) {
  if (type == source.type()) return arithmetic::clone(source);
  auto result = arithmetic::zeros(source.sizes(), type, source.device());
  arithmetic::copy(*result, arithmetic::Operand(source));
  return result;
}

PyObject* tensor(PyObject* module, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    ModuleState* state = state_of_module(module);
    static const char* names[] = {"data", "dtype", nullptr};
    PyObject *data, *dtype = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O:tensor", const_cast<char**>(names), &data,
                                     &dtype)) {
      throw PythonErrorSet{};
    }
    bool has_type = dtype != nullptr && dtype != Py_None;
    ScalarType type = has_type ? scalar_type_of(state, dtype) : ScalarType::float32;
    if (TensorImpl* source = as_tensor(state, data); source != nullptr)
      return new_tensor(state, copied(*source, has_type ? type : source->type()));
    return new_tensor(state, tensor_of_data(state, data, has_type ? &type : nullptr));
  });
}

PyObject* frombuffer(PyObject* module, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    ModuleState* state = state_of_module(module);
    static const char* names[] = {"buffer", "dtype", "count", "offset", nullptr};
    PyObject *exporter, *dtype = nullptr;
    Py_ssize_t count = -1, offset = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$Onn:frombuffer", const_cast<char**>(names),
                                     &exporter, &dtype, &count, &offset)) {
      throw PythonErrorSet{};
    }
    if (dtype == nullptr) throw_python(PyExc_TypeError, "frombuffer needs dtype=");
    ScalarType type = scalar_type_of(state, dtype);
    auto item = static_cast<Py_ssize_t>(item_size(type));
    Py_ssize_t length = 0;
    DataPtr data = data_of_buffer(state->interpreter, exporter, offset, &length);
    Py_ssize_t available = length - offset;
    if (count < 0 && available % item != 0)
      throw_python(PyExc_ValueError, "%zd bytes are no multiple of the dtype's %zd", available,
                   item);
    if (count < 0) count = available / item;
    if (count == 0 || count > available / item) {
      throw_python(PyExc_ValueError, "cannot take %zd elements from %zd bytes", count, available);
    }
    Place place = place_of_new(Device::kCpu);
    auto storage =
        place.has_bytes()
            ? make_intrusive<StorageImpl>(count * item, std::move(data), /*resizable=*/false)
            : make_intrusive<StorageImpl>(count * item, std::move(place), /*resizable=*/false);
    return new_tensor(state, make_intrusive<TensorImpl>(std::move(storage),
                                                        contiguous_layout(Dims{count}), type));
  });
}

PyObject* view_as_real(PyObject* module, PyObject* object) {
  return guarded([&] {
    ModuleState* state = state_of_module(module);
    return new_tensor(state, autograd::record_view(checked_tensor(state, object, "view_as_real"),
                                                   "ViewAsRealBackward0", &views::view_as_real));
  });
}

}  // namespace

intrusive_ptr<TensorImpl> tensor_of_data(ModuleState* state, PyObject* data,
                                         const ScalarType* type) {
  Numbers numbers = numbers_of(state, data, type == nullptr);
  // Numbers are converted also for a fake, which has the errors of a real tensor.
  auto result = make_intrusive<TensorImpl>(numbers.sizes, type != nullptr ? *type : numbers.type);
  auto* bytes = static_cast<char*>(result->checked_data());
  for (const PyRef& value : numbers.values) {
    store_element(bytes, result->type(), value.get());
    bytes += item_size(result->type());
  }
  Place place = place_of_new(Device::kCpu);
  if (place.has_bytes()) return result;
  return make_intrusive<TensorImpl>(result->sizes(), result->type(), place);
}

PyMethodDef factory_methods[] = {
    {"ones", method(&ones), METH_FASTCALL | METH_KEYWORDS,
     "ones(*sizes, dtype=float32, device=None) -> Tensor. RuntimeError for negative or too large\n"
     "sizes."},
    {"empty", method(&empty), METH_FASTCALL | METH_KEYWORDS,
     "empty(*sizes, dtype=float32, device=None) -> Tensor; here the elements are 0."},
    {"zeros", method(&empty), METH_FASTCALL | METH_KEYWORDS,
     "zeros(*sizes, dtype=float32, device=None) -> Tensor."},
    {"tensor", method(&tensor), METH_VARARGS | METH_KEYWORDS,
     "tensor(data, *, dtype=None) -> Tensor from a number, nested lists, or a tensor, which it\n"
     "copies. Without dtype: that of the data, where a float counts as float32 and a complex as\n"
     "complex64. ValueError for uneven lists, TypeError for what has no dtype."},
    {"frombuffer", method(&frombuffer), METH_VARARGS | METH_KEYWORDS,
     "frombuffer(buffer, *, dtype, count=-1, offset=0) -> Tensor over the memory of a writable\n"
     "Python buffer, which is kept as long as the storage. ValueError for sizes that do not fit,\n"
     "BufferError for a read-only buffer."},
    {"view_as_real", &view_as_real, METH_O,
     "view_as_real(tensor) -> Tensor: a view of complex numbers as pairs. RuntimeError for real\n"
     "or conjugated ones."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace slotcore::python
