// enter_hermetic() and exit_hermetic() are a pair for scripts; `with hermetic():` restores the
// former state also when an exception passes (H4). The flag belongs to the thread.

#include "core/python/runtime/hermetic.h"

#include "core/c10/impl/hermetic_py_object_tls.h"

namespace slotcore::python {
namespace {

using impl::HermeticPyObjectTLS;

struct HermeticScope {
  PyObject_HEAD
  bool entered;
  bool former;
};

HermeticScope* as_scope(PyObject* self) { return reinterpret_cast<HermeticScope*>(self); }

PyObject* enter(PyObject*, PyObject*) {
  HermeticPyObjectTLS::set_state(true);
  Py_RETURN_NONE;
}

PyObject* exit(PyObject*, PyObject*) {
  if (!HermeticPyObjectTLS::get_state()) {
    PyErr_SetString(PyExc_RuntimeError, "this thread is not in hermetic mode");
    return nullptr;
  }
  HermeticPyObjectTLS::set_state(false);
  Py_RETURN_NONE;
}

PyObject* is_hermetic(PyObject*, PyObject*) {
  return PyBool_FromLong(HermeticPyObjectTLS::get_state());
}

PyObject* scope_enter(PyObject* self, PyObject*) {
  HermeticScope* scope = as_scope(self);
  if (scope->entered) {
    PyErr_SetString(PyExc_RuntimeError, "this hermetic() has been entered already; make another");
    return nullptr;
  }
  scope->entered = true;
  scope->former = HermeticPyObjectTLS::get_state();
  HermeticPyObjectTLS::set_state(true);
  return Py_NewRef(self);
}

PyObject* scope_exit(PyObject* self, PyObject*) {
  HermeticScope* scope = as_scope(self);
  if (!scope->entered) {
    PyErr_SetString(PyExc_RuntimeError, "this hermetic() has not been entered");
    return nullptr;
  }
  scope->entered = false;
  HermeticPyObjectTLS::set_state(scope->former);
  Py_RETURN_FALSE;  // an exception propagates
}

void scope_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef scope_methods[] = {
    {"__enter__", &scope_enter, METH_NOARGS, "Enters hermetic mode on this thread."},
    {"__exit__", &scope_exit, METH_VARARGS, "Restores the former mode."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyRef make_hermetic_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("hermetic(): context manager; inside, wrapping gives fresh\n"
                                    "base-class wrappers that the storage or tensor ignores.")},
      {Py_tp_dealloc, reinterpret_cast<void*>(&scope_dealloc)},
      {Py_tp_methods, scope_methods},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.hermetic", sizeof(HermeticScope), 0, Py_TPFLAGS_DEFAULT, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

PyMethodDef hermetic_methods[] = {
    {"enter_hermetic", &enter, METH_NOARGS,
     "enter_hermetic(): from now on, wrapping on this thread gives fresh base-class wrappers."},
    {"exit_hermetic", &exit, METH_NOARGS,
     "exit_hermetic(): back to normal wrapping. RuntimeError if not in hermetic mode."},
    {"_is_hermetic", &is_hermetic, METH_NOARGS, "_is_hermetic() -> bool, for this thread."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace slotcore::python
