// SymInt: torch's class, an integer that is an expression. What Python asks of it as of a number
// decides for the example, and so makes a guard; a sum, a product or a comparison does not.

#include "core/python/meta/sym_int.h"

#include <optional>

#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

using meta::Relation, meta::SizeExpr;

struct SymInt {
  PyObject_HEAD PyObject* env;
  SizeExpr expr;
};

SymInt* as_size(PyObject* self) { return reinterpret_cast<SymInt*>(self); }

// Two operands of an operator, at least one of which is a SymInt.
struct Operands {
  PyObject* env;
  SizeExpr left, right;
};

bool is_size(const ModuleState* state, PyObject* object) {
  return Py_IS_TYPE(object, state->sym_int_type);
}

// The state of the module of either operand.
ModuleState* state_of_either(PyObject* a, PyObject* b) {
  PyObject* module = PyType_GetModuleByDef(Py_TYPE(a), &slotcore_module);
  if (module != nullptr) return state_of_module(module);
  PyErr_Clear();
  return state_of_type(Py_TYPE(b));
}

// nullopt if one of them is no integer.
std::optional<Operands> operands_of(PyObject* a, PyObject* b) {
  ModuleState* state = state_of_either(a, b);
  Operands operands{};
  for (auto [object, expr] : {std::pair(a, &operands.left), std::pair(b, &operands.right)}) {
    if (is_size(state, object)) {
      if (operands.env != nullptr && operands.env != as_size(object)->env)
        throw_python(PyExc_ValueError, "the sizes belong to two environments");
      operands.env = as_size(object)->env;
      *expr = as_size(object)->expr;
    } else if (PyLong_Check(object)) {
      *expr = SizeExpr(checked_int(object));
    } else {
      return std::nullopt;
    }
  }
  return operands;
}

template <class Compute>
PyObject* result_of(const Operands& two, Compute compute) {
  PyRef keep = PyRef::borrow(two.env);
  SizeExpr result = compute(two);
  return size_object(two.env, env_of(two.env).simplify(std::move(result)));
}

template <class Compute>
PyObject* computed(PyObject* a, PyObject* b, Compute compute) {
  return guarded([&]() -> PyObject* {
    auto operands = operands_of(a, b);
    if (!operands) Py_RETURN_NOTIMPLEMENTED;
    return result_of(*operands, compute);
  });
}

PyObject* add(PyObject* a, PyObject* b) {
  return computed(a, b, [](const Operands& two) { return two.left + two.right; });
}

PyObject* subtract(PyObject* a, PyObject* b) {
  return computed(a, b, [](const Operands& two) { return two.left - two.right; });
}

PyObject* multiply(PyObject* a, PyObject* b) {
  return computed(a, b, [](const Operands& two) { return two.left * two.right; });
}

// That the divisor is not 0 is a decision like any other.
void check_divisor(const Operands& two) {
  if (!env_of(two.env).decide({two.right, Relation::Kind::kNotEqual}))
    throw_python(PyExc_ZeroDivisionError, "a size is divided by 0");
}

PyObject* floor_divide(PyObject* a, PyObject* b) {
  return computed(a, b, [](const Operands& two) {
    check_divisor(two);
    return two.left.floor_div(two.right);
  });
}

PyObject* remainder(PyObject* a, PyObject* b) {
  return computed(a, b, [](const Operands& two) {
    check_divisor(two);
    return two.left.mod(two.right);
  });
}

// a < b is b - a - 1 >= 0, and so on.
Relation relation_of(const Operands& two, int comparison) {
  using Kind = Relation::Kind;
  const SizeExpr& a = two.left;
  const SizeExpr& b = two.right;
  switch (comparison) {
    case Py_LT: return {b - a - SizeExpr(1), Kind::kNotNegative};
    case Py_LE: return {b - a, Kind::kNotNegative};
    case Py_GT: return {a - b - SizeExpr(1), Kind::kNotNegative};
    case Py_GE: return {a - b, Kind::kNotNegative};
    case Py_EQ: return {a - b, Kind::kEqual};
    default: return {a - b, Kind::kNotEqual};
  }
}

PyObject* compare(PyObject* a, PyObject* b, int comparison) {
  return guarded([&]() -> PyObject* {
    auto operands = operands_of(a, b);
    if (!operands) Py_RETURN_NOTIMPLEMENTED;
    return condition_object(operands->env, relation_of(*operands, comparison));
  });
}

int is_true(PyObject* self) {
  return guarded([&] {
    Relation relation{as_size(self)->expr, Relation::Kind::kNotEqual};
    return env_of(as_size(self)->env).decide(relation) ? 1 : 0;
  });
}

PyObject* as_int(PyObject* self) {
  return guarded([&] {
    return PyLong_FromLongLong(env_of(as_size(self)->env).specialize(as_size(self)->expr));
  });
}

PyObject* repr(PyObject* self) {
  return guarded([&] { return PyUnicode_FromString(as_size(self)->expr.text().c_str()); });
}

PyObject* get_hint(PyObject* self, void*) {
  return guarded(
      [&] { return PyLong_FromLongLong(env_of(as_size(self)->env).hint(as_size(self)->expr)); });
}

PyObject* get_env(PyObject* self, void*) { return Py_NewRef(as_size(self)->env); }

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(as_size(self)->env);
  std::destroy_at(&as_size(self)->expr);
  type->tp_free(self);
  Py_DECREF(type);
}

// sym_max or sym_min of two numbers; of ints alone it is an int.
template <SizeExpr (SizeExpr::*chosen)(const SizeExpr&) const>
PyObject* extreme(PyObject* module, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *a, *b;
    if (!PyArg_ParseTuple(args, "OO", &a, &b)) throw PythonErrorSet{};
    const ModuleState* state = state_of_module(module);
    bool is_any_size = is_size(state, a) || is_size(state, b);
    if (!is_any_size) {
      SizeExpr result = (SizeExpr(checked_int(a)).*chosen)(SizeExpr(checked_int(b)));
      return PyLong_FromLongLong(result.constant());
    }
    auto operands = operands_of(a, b);
    if (!operands) throw_python(PyExc_TypeError, "expected sizes and ints");
    return result_of(*operands, [](const Operands& two) { return (two.left.*chosen)(two.right); });
  });
}

PyGetSetDef properties[] = {
    {"hint", &get_hint, nullptr, "The value for the example. Makes no guard.", nullptr},
    {"shape_env", &get_env, nullptr, "The ShapeEnv that it belongs to.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

PyMethodDef sym_int_functions[] = {
    {"sym_max", &extreme<&SizeExpr::max>, METH_VARARGS,
     "sym_max(a, b) -> the larger of two sizes or ints, without a guard."},
    {"sym_min", &extreme<&SizeExpr::min>, METH_VARARGS,
     "sym_min(a, b) -> the smaller of two sizes or ints, without a guard."},
    {nullptr, nullptr, 0, nullptr},
};

PyRef make_sym_int_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("An expression of sizes. bool() and int() decide for the\n"
                                    "example, by a guard unless that is implied.")},
      {Py_tp_dealloc, reinterpret_cast<void*>(&dealloc)},
      {Py_tp_repr, reinterpret_cast<void*>(&repr)},
      {Py_tp_richcompare, reinterpret_cast<void*>(&compare)},
      // The hash of an equal int would need a guard.
      {Py_tp_hash, reinterpret_cast<void*>(&PyObject_HashNotImplemented)},
      {Py_tp_getset, properties},
      {Py_nb_add, reinterpret_cast<void*>(&add)},
      {Py_nb_subtract, reinterpret_cast<void*>(&subtract)},
      {Py_nb_multiply, reinterpret_cast<void*>(&multiply)},
      {Py_nb_floor_divide, reinterpret_cast<void*>(&floor_divide)},
      {Py_nb_remainder, reinterpret_cast<void*>(&remainder)},
      {Py_nb_bool, reinterpret_cast<void*>(&is_true)},
      {Py_nb_int, reinterpret_cast<void*>(&as_int)},
      {Py_nb_index, reinterpret_cast<void*>(&as_int)},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.SymInt", sizeof(SymInt), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

PyObject* size_object(PyObject* env, const SizeExpr& expr) {
  if (expr.is_constant()) return checked(PyLong_FromLongLong(expr.constant()));
  PyTypeObject* type = state_of_type(Py_TYPE(env))->sym_int_type;
  PyObject* self = checked(type->tp_alloc(type, 0));
  std::construct_at(&as_size(self)->expr, expr);
  as_size(self)->env = Py_NewRef(env);
  return self;
}

}  // namespace slotcore::python
