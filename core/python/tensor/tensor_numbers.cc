// The elements of a tensor as Python numbers.

#include "core/c10/tensor/announce.h"
#include "core/c10/tensor/operation.h"
#include "core/meta/fake_mode.h"
#include "core/python/sizes/sym_int.h"
#include "core/python/tensor/dtype.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

PyObject* nested_list(const TensorImpl& tensor, const Elements& elements, size_t dim,
                      int64_t offset) {
  if (dim == tensor.sizes().size()) return number_of(elements, tensor.type(), offset);
  PyRef list = PyRef::steal(checked(PyList_New(0)));
  for (int64_t i = 0; i < tensor.sizes()[dim]; i++) {
    PyRef value =
        PyRef::steal(nested_list(tensor, elements, dim + 1, offset + i * tensor.strides()[dim]));
    checked(PyList_Append(list.get(), value.get()));
  }
  return list.release();
}

PyObject* tolist(PyObject* self, PyObject*) {
  return guarded([&] {
    announce({&self_tensor(self)});
    // A copy: code that the collector runs meanwhile may change the tensor and its storage.
    auto fixed = arithmetic::clone(self_tensor(self));
    return nested_list(*fixed, Elements(*fixed), 0, 0);
  });
}

void check_is_number(const TensorImpl& tensor) {
  announce({&tensor});
  auto count = [](const auto& layout) { return SymInt(element_count(layout.sizes)); };
  SymInt numel = with_layouts(count, tensor);
  if (numel != SymInt(1))
    throw std::runtime_error("a tensor of " + text(numel) + " elements is not a number");
}

PyObject* only_element(PyObject* self) {
  TensorImpl& tensor = self_tensor(self);
  check_is_number(tensor);
  return number_of(Elements(tensor), tensor.type(), 0);
}

PyObject* item(PyObject* self, PyObject*) {
  return guarded([&] {
    TensorImpl& tensor = self_tensor(self);
    auto mode = meta::mode_of(tensor);
    if (!mode || !mode->env || tensor.type() != ScalarType::int64) return only_element(self);
    PyRef size = reserved_size(state_of_wrapper(self));
    SymInt number = tensor_operation(Op::kItem, tensor, [&] {
      check_is_number(tensor);
      std::lock_guard lock(mode->env->mutex);
      return sym_int_of(mode->env, mode->env->env.add_unbacked());
    });
    return with_number(std::move(size), std::move(number));
  });
}

// The only element, or its real part if its imaginary part is 0.
PyRef real_element(PyObject* self) {
  PyRef number = PyRef::steal(only_element(self));
  if (!PyComplex_Check(number.get())) return number;
  if (PyComplex_ImagAsDouble(number.get()) != 0)
    throw_python(PyExc_RuntimeError, "a complex number cannot be converted without loss");
  return PyRef::steal(checked(PyFloat_FromDouble(PyComplex_RealAsDouble(number.get()))));
}

PyObject* complex(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    PyRef number = PyRef::steal(only_element(self));
    Py_complex value = PyComplex_AsCComplex(number.get());
    if (value.real == -1.0 && PyErr_Occurred()) throw PythonErrorSet{};
    return PyComplex_FromCComplex(value);
  });
}

}  // namespace

PyObject* tensor_float(PyObject* self) {
  return guarded([&] { return PyNumber_Float(real_element(self).get()); });
}

PyObject* tensor_int(PyObject* self) {
  return guarded([&] { return PyNumber_Long(real_element(self).get()); });
}

PyObject* tensor_index(PyObject* self) {
  return guarded([&] {
    TensorImpl& tensor = self_tensor(self);
    auto is_one = [](const auto& layout) {
      return SymInt(element_count(layout.sizes)) == SymInt(1);
    };
    if (kind_of(tensor.type()) > kind_of(ScalarType::int64) || !with_layouts(is_one, tensor))
      throw_python(PyExc_TypeError, "only a tensor of one integer or bool is an index");
    return PyNumber_Index(PyRef::steal(only_element(self)).get());
  });
}

int tensor_bool(PyObject* self) {
  return guarded([&] { return PyObject_IsTrue(PyRef::steal(only_element(self)).get()); });
}

PyMethodDef tensor_number_methods[] = {
    {"tolist", &tolist, METH_NOARGS, "tolist() -> nested lists of numbers, or a number."},
    {"item", &item, METH_NOARGS,
     "item() -> number. RuntimeError unless there is one. Of a fake of int64 in a mode with an\n"
     "environment, an unbacked SymInt."},
    {"__complex__", &complex, METH_NOARGS, "complex(self). RuntimeError unless there is one."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace slotcore::python
