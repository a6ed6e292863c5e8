// Arithmetic on tensors, as methods and operators.

#include <functional>

#include "core/autograd/functions/arithmetic.h"
#include "core/autograd/functions/in_place.h"
#include "core/autograd/functions/relu.h"
#include "core/autograd/functions/view.h"
#include "core/c10/tensor/tensor_views.h"
#include "core/meta/nonzero.h"
#include "core/python/tensor/dtype.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

using arithmetic::Operand;

autograd::TensorPtr recorded_result(Op op, const Operand& a, const Operand& b) {
  if (op == Op::kAdd) return autograd::add(a, b);
  if (op == Op::kMultiply) return autograd::multiply(a, b);
  return arithmetic::compute(op, a, b);  // comparisons have no derivative
}

// A tensor or a number; nullopt for anything else. Runs no user code.
std::optional<Operand> operand_of(ModuleState* state, PyObject* object) {
  if (TensorImpl* tensor = as_tensor(state, object); tensor != nullptr) return Operand(*tensor);
  if (auto number = scalar_of(object); number) return Operand(*number);
  return std::nullopt;
}

Operand checked_operand(ModuleState* state, PyObject* object, const char* function) {
  auto operand = operand_of(state, object);
  if (!operand) {
    throw_python(PyExc_TypeError, "%s: expected a Tensor or a number, got %s", function,
                 Py_TYPE(object)->tp_name);
  }
  return *std::move(operand);
}

PyObject* computed(PyObject* self, PyObject* object, Op op, const char* function) {
  return guarded([&] {
    ModuleState* state = state_of_wrapper(self);
    Operand other = checked_operand(state, object, function);
    return new_tensor(state, recorded_result(op, Operand(self_tensor(self)), other));
  });
}

PyObject* computed_in_place(PyObject* self, PyObject* object,
                            void (*compute)(TensorImpl&, const Operand&), const char* function) {
  return guarded([&] {
    Operand other = checked_operand(state_of_wrapper(self), object, function);
    compute(self_tensor(self), other);
    return wrapped_again(self);
  });
}

PyObject* add_in_place(PyObject* self, PyObject* object) {
  return computed_in_place(self, object, &autograd::add_in_place, "add_");
}

PyObject* mul_in_place(PyObject* self, PyObject* object) {
  return computed_in_place(self, object, &autograd::multiply_in_place, "mul_");
}

PyObject* add(PyObject* self, PyObject* object) { return computed(self, object, Op::kAdd, "add"); }

PyObject* mul(PyObject* self, PyObject* object) {
  return computed(self, object, Op::kMultiply, "mul");
}

PyObject* fill(PyObject* self, PyObject* object) {
  return guarded([&] {
    if (auto number = scalar_of(object); number) {
      autograd::fill_in_place(self_tensor(self), *number);
      return wrapped_again(self);
    }
    Operand value = checked_operand(state_of_wrapper(self), object, "fill_");
    if (value.tensor->dim() != 0)
      throw_python(PyExc_RuntimeError, "fill_ takes a tensor without dimensions");
    autograd::fill_in_place(self_tensor(self), *value.tensor);
    return wrapped_again(self);
  });
}

PyObject* zero(PyObject* self, PyObject*) {
  return guarded([&] {
    autograd::fill_in_place(self_tensor(self), false);
    return wrapped_again(self);
  });
}

PyObject* copy(PyObject* self, PyObject* object) {
  return guarded([&] {
    Operand source = checked_operand(state_of_wrapper(self), object, "copy_");
    autograd::copy_in_place(self_tensor(self), source);
    return wrapped_again(self);
  });
}

PyObject* clone(PyObject* self, PyObject*) {
  return guarded(
      [&] { return new_tensor(state_of_wrapper(self), autograd::clone(self_tensor(self))); });
}

PyObject* sum(PyObject* self, PyObject*) {
  return guarded(
      [&] { return new_tensor(state_of_wrapper(self), autograd::sum(self_tensor(self))); });
}

PyObject* nonzero(PyObject* self, PyObject*) {
  return guarded([&] {
    PyRef rows;
    auto wrap_rows = [&](const intrusive_ptr<TensorImpl>& made) {
      rows = PyRef::steal(wrap_tensor(state_of_wrapper(self), made));
    };
    // A trace has a node for the symbol, and then both stay.
    bool is_traced = impl::OperationTracerTLS::current() != nullptr;
    std::function<void(const intrusive_ptr<TensorImpl>&)> use;
    if (!is_traced) use = wrap_rows;
    intrusive_ptr<TensorImpl> made = meta::nonzero(self_tensor(self), use);
    if (!rows) wrap_rows(made);
    return rows.release();
  });
}

PyObject* relu(PyObject* self, PyObject*) {
  return guarded(
      [&] { return new_tensor(state_of_wrapper(self), autograd::relu(self_tensor(self))); });
}

PyObject* relu_in_place(PyObject* self, PyObject*) {
  return guarded([&] {
    autograd::relu_in_place(self_tensor(self));
    return wrapped_again(self);
  });
}

// The state of the module that made the class of one of two operands.
ModuleState* state_of_either(PyObject* a, PyObject* b) {
  PyObject* module = PyType_GetModuleByDef(Py_TYPE(a), &slotcore_module);
  if (module != nullptr) return state_of_module(module);
  PyErr_Clear();
  return state_of_type(Py_TYPE(b));
}

// An operator. Either side may be the tensor.
PyObject* operated(PyObject* a, PyObject* b, Op op) {
  return guarded([&]() -> PyObject* {
    ModuleState* state = state_of_either(a, b);
    auto left = operand_of(state, a), right = operand_of(state, b);
    if (!left || !right) Py_RETURN_NOTIMPLEMENTED;
    return new_tensor(state, recorded_result(op, *left, *right));
  });
}

// An in-place operator. For another type Python asks the reflected method of the operand. This is
// no slot, because a subclass would also take it for `sq_inplace_concat`, whose NotImplemented
// Python returns.
PyObject* operated_in_place(PyObject* self, PyObject* object,
                            void (*compute)(TensorImpl&, const Operand&)) {
  return guarded([&]() -> PyObject* {
    auto other = operand_of(state_of_wrapper(self), object);
    if (!other) Py_RETURN_NOTIMPLEMENTED;
    compute(self_tensor(self), *other);
    return wrapped_again(self);
  });
}

PyObject* iadd(PyObject* self, PyObject* object) {
  return operated_in_place(self, object, &autograd::add_in_place);
}

PyObject* imul(PyObject* self, PyObject* object) {
  return operated_in_place(self, object, &autograd::multiply_in_place);
}

}  // namespace

PyObject* tensor_add(PyObject* a, PyObject* b) { return operated(a, b, Op::kAdd); }

PyObject* tensor_multiply(PyObject* a, PyObject* b) { return operated(a, b, Op::kMultiply); }

PyObject* tensor_compare(PyObject* self, PyObject* other, int comparison) {
  switch (comparison) {
    case Py_EQ: return operated(self, other, Op::kEqual);
    case Py_NE: return operated(self, other, Op::kNotEqual);
    default: Py_RETURN_NOTIMPLEMENTED;
  }
}

Py_hash_t tensor_hash(PyObject* self) {
  // By identity, as in torch: the result of == is not a bool.
  return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(self));
}

void assign_elements(ModuleState* state, TensorImpl& self, PyObject* value) {
  Operand source = checked_operand(state, value, "assignment to elements");
  if (source.is_number) arithmetic::check_fits(self.type(), source.number);  // copy_() takes it
  bool is_single = source.tensor->dim() == 0 && source.tensor->device() == Device::kCpu;
  if (!source.is_number && is_single && self.dim() != 0) {
    autograd::fill_in_place(self, *source.tensor);
    return;
  }
  while (source.tensor->dim() > self.dim() && source.tensor->sizes()[0] == 1) {
    source.tensor = autograd::record_view(*source.tensor, "SelectBackward0",
                                          [](TensorImpl& one) { return views::select(one, 0, 0); });
  }
  autograd::copy_in_place(self, source);
}

PyMethodDef tensor_arithmetic_methods[] = {
    {"add", &add, METH_O, "add(other) -> Tensor: the sum with a tensor or a number."},
    {"mul", &mul, METH_O, "mul(other) -> Tensor: the product with a tensor or a number."},
    {"add_", &add_in_place, METH_O, "add_(other) -> self: add() in place."},
    {"mul_", &mul_in_place, METH_O, "mul_(other) -> self: mul() in place."},
    {"__iadd__", &iadd, METH_O, "add_() for `+=`; NotImplemented for another type."},
    {"__imul__", &imul, METH_O, "mul_() for `*=`; NotImplemented for another type."},
    {"fill_", &fill, METH_O,
     "fill_(value) -> self. RuntimeError if the dtype cannot hold the value."},
    {"zero_", &zero, METH_NOARGS, "zero_() -> self."},
    {"copy_", &copy, METH_O,
     "copy_(source) -> self: copies and converts the elements of a tensor that expands to this\n"
     "size, or a number."},
    {"clone", &clone, METH_NOARGS, "clone() -> Tensor: the elements in a new storage."},
    {"nonzero", &nonzero, METH_NOARGS,
     "nonzero() -> Tensor of int64: a row of indices for each element that is not zero."},
    {"relu", &relu, METH_NOARGS, "relu() -> Tensor: 0 for negative numbers, else the numbers."},
    {"relu_", &relu_in_place, METH_NOARGS, "relu_() -> self: relu() in place."},
    {"sum", &sum, METH_NOARGS, "sum() -> Tensor without dimensions."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace slotcore::python
