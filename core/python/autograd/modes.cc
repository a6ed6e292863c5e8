// no_grad() and its relatives: context managers that set the thread's mode of recording, and
// restore the former one.

#include "core/autograd/grad_mode.h"
#include "core/python/autograd/graph.h"

namespace slotcore::python {
namespace {

using autograd::GradMode;

struct GradModeScope {
  PyObject_HEAD bool wanted;
  bool entered;
  bool former;
};

GradModeScope* as_scope(PyObject* self) { return reinterpret_cast<GradModeScope*>(self); }

PyObject* enter_mode(PyObject* self, PyObject*) {
  as_scope(self)->former = GradMode::is_enabled();
  as_scope(self)->entered = true;
  GradMode::set_enabled(as_scope(self)->wanted);
  Py_RETURN_NONE;
}

PyObject* leave_mode(PyObject* self, PyObject*) {
  if (!as_scope(self)->entered) {
    PyErr_SetString(PyExc_RuntimeError, "this mode has not been entered");
    return nullptr;
  }
  as_scope(self)->entered = false;
  GradMode::set_enabled(as_scope(self)->former);
  Py_RETURN_FALSE;  // an exception propagates
}

PyObject* new_mode_scope(PyTypeObject* type, bool wanted) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) as_scope(self)->wanted = wanted;
  return self;
}

PyObject* new_no_grad(PyTypeObject* type, PyObject*, PyObject*) {
  return new_mode_scope(type, false);
}

PyObject* new_enable_grad(PyTypeObject* type, PyObject*, PyObject*) {
  return new_mode_scope(type, true);
}

// As in torch, the mode is set at once; as a context manager it restores the former one.
PyObject* new_set_grad_enabled(PyTypeObject* type, PyObject* args, PyObject*) {
  int mode;
  if (!PyArg_ParseTuple(args, "p:set_grad_enabled", &mode)) return nullptr;
  PyObject* self = new_mode_scope(type, mode != 0);
  if (self == nullptr) return nullptr;
  as_scope(self)->former = GradMode::is_enabled();
  as_scope(self)->entered = true;
  GradMode::set_enabled(mode != 0);
  return self;
}

PyObject* enter_again(PyObject*, PyObject*) { Py_RETURN_NONE; }

void mode_scope_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* is_grad_enabled(PyObject*, PyObject*) { return PyBool_FromLong(GradMode::is_enabled()); }

PyMethodDef mode_scope_methods[] = {
    {"__enter__", &enter_mode, METH_NOARGS, "Sets the mode of this thread."},
    {"__exit__", &leave_mode, METH_VARARGS, "Restores the former mode."},
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef mode_scope_methods_when_set[] = {
    {"__enter__", &enter_again, METH_NOARGS, "The mode is set already."},
    {"__exit__", &leave_mode, METH_VARARGS, "Restores the former mode."},
    {nullptr, nullptr, 0, nullptr},
};

void add_mode(PyObject* module, const char* name, newfunc create, PyMethodDef* methods,
              const char* doc) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>(doc)},
      {Py_tp_new, reinterpret_cast<void*>(create)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&mode_scope_dealloc)},
      {Py_tp_methods, methods},
      {0, nullptr},
  };
  PyType_Spec spec = {name, sizeof(GradModeScope), 0, Py_TPFLAGS_DEFAULT, slots};
  PyRef type = PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
  checked(PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type.get())));
}

}  // namespace

void add_modes(PyObject* module) {
  add_mode(module, "slotcore.no_grad", &new_no_grad, mode_scope_methods,
           "no_grad(): context manager; inside, operations are not recorded in a graph.");
  add_mode(module, "slotcore.enable_grad", &new_enable_grad, mode_scope_methods,
           "enable_grad(): context manager; inside, operations are recorded in a graph.");
  add_mode(module, "slotcore.set_grad_enabled", &new_set_grad_enabled, mode_scope_methods_when_set,
           "set_grad_enabled(mode): sets the mode; as a context manager, restores the former one.");
}

PyMethodDef mode_methods[] = {
    {"is_grad_enabled", &is_grad_enabled, METH_NOARGS,
     "is_grad_enabled() -> bool, for this thread."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace slotcore::python
