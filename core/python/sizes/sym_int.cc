// SymInt: torch's class, an integer that is an expression. What Python asks of it as of a number
// decides for the example, and so makes a guard; a sum, a product or a comparison does not.

#include "core/python/sizes/sym_int.h"

namespace slotcore::python {
namespace {

using meta::Comparison;
using Operation = SymNode::Operation;

struct SizeObject {
  PyObject_HEAD SymInt value;  // symbolic, once it has a number
};

const SymInt& value_of(PyObject* self) { return reinterpret_cast<SizeObject*>(self)->value; }

// The state of the module of either operand.
ModuleState* state_of_either(PyObject* a, PyObject* b) {
  PyObject* module = PyType_GetModuleByDef(Py_TYPE(a), &slotcore_module);
  if (module != nullptr) return state_of_module(module);
  PyErr_Clear();
  return state_of_type(Py_TYPE(b));
}

template <Operation operation>
PyObject* computed(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    ModuleState* state = state_of_either(a, b);
    auto left = size_of(state, a), right = size_of(state, b);
    if (!left || !right) Py_RETURN_NOTIMPLEMENTED;
    return size_object(state, SymInt::compute(operation, *left, *right));
  });
}

PyObject* compare(PyObject* self, PyObject* object, int operation) {
  return guarded([&]() -> PyObject* {
    ModuleState* state = state_of_type(Py_TYPE(self));
    auto other = size_of(state, object);
    if (!other) {
      // Python would take another number for unequal: a decision without a guard.
      if (PyNumber_Check(object)) {
        throw_python(PyExc_TypeError, "a size is compared with sizes and ints, not with %s",
                     Py_TYPE(object)->tp_name);
      }
      Py_RETURN_NOTIMPLEMENTED;
    }
    const meta::EnvPtr& env = meta::env_of(value_of(self));
    auto condition = [&](const SymInt& a, Comparison comparison, const SymInt& b) {
      return condition_object(state, env, meta::relation_of(env, a, comparison, b));
    };
    const SymInt &a = value_of(self), &b = *other;
    switch (operation) {
      case Py_LT: return condition(a, Comparison::kLess, b);
      case Py_LE: return condition(a, Comparison::kLessEqual, b);
      case Py_GT: return condition(b, Comparison::kLess, a);
      case Py_GE: return condition(b, Comparison::kLessEqual, a);
      case Py_EQ: return condition(a, Comparison::kEqual, b);
      default: return condition(a, Comparison::kNotEqual, b);
    }
  });
}

int sym_int_is_true(PyObject* self) {
  return guarded([&] { return value_of(self) != SymInt(0) ? 1 : 0; });
}

PyObject* as_int(PyObject* self) {
  return guarded([&] { return PyLong_FromLongLong(value_of(self).specialize()); });
}

PyObject* sym_int_repr(PyObject* self) {
  return guarded([&] { return PyUnicode_FromString(text(value_of(self)).c_str()); });
}

PyObject* get_hint(PyObject* self, void*) {
  return guarded([&] {
    const meta::EnvPtr& env = meta::env_of(value_of(self));
    std::lock_guard lock(env->mutex);
    return PyLong_FromLongLong(env->env.hint(meta::expr_of(env, value_of(self))));
  });
}

PyObject* get_env(PyObject* self, void*) {
  return guarded(
      [&] { return env_object(state_of_type(Py_TYPE(self)), meta::env_of(value_of(self))); });
}

void sym_int_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  std::destroy_at(&reinterpret_cast<SizeObject*>(self)->value);
  type->tp_free(self);
  Py_DECREF(type);
}

// sym_max or sym_min of two numbers; of ints alone it is an int.
template <Operation operation>
PyObject* extreme(PyObject* module, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *a, *b;
    if (!PyArg_ParseTuple(args, "OO", &a, &b)) throw PythonErrorSet{};
    ModuleState* state = state_of_module(module);
    auto left = size_of(state, a), right = size_of(state, b);
    if (!left || !right) throw_python(PyExc_TypeError, "expected sizes and ints");
    return size_object(state, SymInt::compute(operation, *left, *right));
  });
}

PyGetSetDef sym_int_properties[] = {
    {"hint", &get_hint, nullptr, "The value for the example. Makes no guard.", nullptr},
    {"shape_env", &get_env, nullptr, "The ShapeEnv that it belongs to.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

PyMethodDef sym_int_functions[] = {
    {"sym_max", &extreme<Operation::kMaximum>, METH_VARARGS,
     "sym_max(a, b) -> the larger of two sizes or ints, without a guard."},
    {"sym_min", &extreme<Operation::kMinimum>, METH_VARARGS,
     "sym_min(a, b) -> the smaller of two sizes or ints, without a guard."},
    {nullptr, nullptr, 0, nullptr},
};

PyRef make_sym_int_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("An expression of sizes. bool() and int() decide for the\n"
                                    "example, by a guard unless that is implied.")},
      {Py_tp_dealloc, reinterpret_cast<void*>(&sym_int_dealloc)},
      {Py_tp_repr, reinterpret_cast<void*>(&sym_int_repr)},
      {Py_tp_richcompare, reinterpret_cast<void*>(&compare)},
      // The hash of an equal int would need a guard.
      {Py_tp_hash, reinterpret_cast<void*>(&PyObject_HashNotImplemented)},
      {Py_tp_getset, sym_int_properties},
      {Py_nb_add, reinterpret_cast<void*>(&computed<Operation::kAdd>)},
      {Py_nb_subtract, reinterpret_cast<void*>(&computed<Operation::kSubtract>)},
      {Py_nb_multiply, reinterpret_cast<void*>(&computed<Operation::kMultiply>)},
      {Py_nb_floor_divide, reinterpret_cast<void*>(&computed<Operation::kFloorDivide>)},
      {Py_nb_remainder, reinterpret_cast<void*>(&computed<Operation::kRemainder>)},
      {Py_nb_bool, reinterpret_cast<void*>(&sym_int_is_true)},
      {Py_nb_int, reinterpret_cast<void*>(&as_int)},
      {Py_nb_index, reinterpret_cast<void*>(&as_int)},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.SymInt", sizeof(SizeObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

PyObject* size_object(ModuleState* state, const SymInt& size) {
  if (!size.is_symbolic()) return checked(PyLong_FromLongLong(size.value()));
  return with_number(reserved_size(state), size);
}

PyRef reserved_size(ModuleState* state) {
  PyTypeObject* type = state->sym_int_type;
  PyRef self = PyRef::steal(checked(type->tp_alloc(type, 0)));
  std::construct_at(&reinterpret_cast<SizeObject*>(self.get())->value);
  return self;
}

PyObject* with_number(PyRef reserved, SymInt number) noexcept {
  reinterpret_cast<SizeObject*>(reserved.get())->value = std::move(number);
  return reserved.release();
}

PyObject* tuple_of(ModuleState* state, const SymDims& dims) {
  PyRef tuple = PyRef::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(dims.size()))));
  for (size_t i = 0; i < dims.size(); i++)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), size_object(state, dims[i]));
  return tuple.release();
}

bool is_size_object(const ModuleState* state, PyObject* object) noexcept {
  return Py_IS_TYPE(object, state->sym_int_type);
}

std::optional<SymInt> size_of(const ModuleState* state, PyObject* object) {
  if (is_size_object(state, object)) return value_of(object);
  if (PyLong_Check(object)) return SymInt(checked_int(object));
  return std::nullopt;
}

}  // namespace slotcore::python
