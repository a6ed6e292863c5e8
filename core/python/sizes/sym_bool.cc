// SymBool: torch's class, a condition on sizes that is not decided yet. bool() decides it for the
// example; `_check` takes it for true, and puts it off if only the data decides.

#include "core/python/sizes/sym_int.h"

namespace slotcore::python {
namespace {

using meta::Relation;

struct SymBool {
  PyObject_HEAD meta::EnvPtr env;
  Relation relation;
};

SymBool* as_condition(PyObject* self) { return reinterpret_cast<SymBool*>(self); }

int sym_bool_is_true(PyObject* self) {
  return guarded([&] {
    const auto& [head, env, relation] = *as_condition(self);
    std::lock_guard lock(env->mutex);
    return env->env.decide(relation) ? 1 : 0;
  });
}

// As the bool that it decides to be: conditions are equal if both hold, or neither.
PyObject* sym_bool_compare(PyObject* self, PyObject* object, int operation) {
  int is_true = sym_bool_is_true(self);
  if (is_true < 0) return nullptr;
  return PyObject_RichCompare(is_true != 0 ? Py_True : Py_False, object, operation);
}

PyObject* sym_bool_repr(PyObject* self) {
  return guarded([&] { return PyUnicode_FromString(as_condition(self)->relation.text().c_str()); });
}

void sym_bool_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  std::destroy_at(&as_condition(self)->env);
  std::destroy_at(&as_condition(self)->relation);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* check(PyObject* module, PyObject* condition) {
  return guarded([&]() -> PyObject* {
    if (Py_IS_TYPE(condition, state_of_module(module)->sym_bool_type)) {
      const auto& [head, env, relation] = *as_condition(condition);
      std::lock_guard lock(env->mutex);
      env->env.assert_later(relation);
    } else if (!PyBool_Check(condition)) {
      throw_python(PyExc_TypeError, "expected a bool or a SymBool, got %s",
                   Py_TYPE(condition)->tp_name);
    } else if (condition == Py_False) {
      throw_python(PyExc_RuntimeError, "this is false: False");
    }
    Py_RETURN_NONE;
  });
}

}  // namespace

PyMethodDef sym_bool_functions[] = {
    {"_check", &check, METH_O,
     "_check(condition): raises RuntimeError if the condition is false. Of a SymBool that only "
     "the\n"
     "data decides, this is put off: ShapeEnv.deferred_runtime_asserts has it from then on, and\n"
     "decisions take it for true."},
    {nullptr, nullptr, 0, nullptr},
};

PyRef make_sym_bool_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc,
       const_cast<char*>("A condition on sizes. bool() decides it for the example, by a\n"
                         "guard unless it is implied, and so does a comparison.")},
      {Py_tp_dealloc, reinterpret_cast<void*>(&sym_bool_dealloc)},
      {Py_tp_repr, reinterpret_cast<void*>(&sym_bool_repr)},
      {Py_tp_richcompare, reinterpret_cast<void*>(&sym_bool_compare)},
      {Py_tp_hash, reinterpret_cast<void*>(&PyObject_HashNotImplemented)},
      {Py_nb_bool, reinterpret_cast<void*>(&sym_bool_is_true)},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.SymBool", sizeof(SymBool), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

PyObject* condition_object(ModuleState* state, const meta::EnvPtr& env, const Relation& relation) {
  if (relation.expr.is_constant()) return PyBool_FromLong(relation.holds(relation.expr.constant()));
  PyTypeObject* type = state->sym_bool_type;
  PyObject* self = checked(type->tp_alloc(type, 0));
  std::construct_at(&as_condition(self)->relation, relation);
  std::construct_at(&as_condition(self)->env, env);
  return self;
}

}  // namespace slotcore::python
