// no_grad() and its relatives: context managers that set the thread's mode of recording, and
// restore the former one.

#include <memory>
#include <vector>

#include "core/autograd/grad_mode.h"
#include "core/python/autograd/graph.h"

namespace slotcore::python {
namespace {

using autograd::GradMode;

struct GradModeScope {
  PyObject_HEAD bool wanted;
  // Whether set_grad_enabled() has entered it already, so that the next __enter__() does not.
  bool is_set;
  // The mode before each __enter__() that no __exit__() has followed.
  std::vector<bool> formers;
};

GradModeScope* as_scope(PyObject* self) { return reinterpret_cast<GradModeScope*>(self); }

PyObject* enter_mode(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    GradModeScope* scope = as_scope(self);
    if (!scope->is_set) scope->formers.push_back(GradMode::is_enabled());
    scope->is_set = false;
    GradMode::set_enabled(scope->wanted);
    Py_RETURN_NONE;
  });
}

PyObject* leave_mode(PyObject* self, PyObject*) {
  std::vector<bool>& formers = as_scope(self)->formers;
  if (formers.empty()) {
    PyErr_SetString(PyExc_RuntimeError, "this mode has not been entered");
    return nullptr;
  }
  GradMode::set_enabled(formers.back());
  formers.pop_back();
  as_scope(self)->is_set = false;
  Py_RETURN_FALSE;  // an exception propagates
}

PyObject* new_mode_scope(PyTypeObject* type, bool wanted) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  std::construct_at(&as_scope(self)->formers);
  as_scope(self)->wanted = wanted;
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
  PyRef scope = PyRef::steal(self);
  if (self == nullptr) return nullptr;
  PyRef none = PyRef::steal(enter_mode(self, nullptr));
  if (none.get() == nullptr) return nullptr;
  as_scope(self)->is_set = true;
  return scope.release();
}

void mode_scope_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  std::destroy_at(&as_scope(self)->formers);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* is_grad_enabled(PyObject*, PyObject*) { return PyBool_FromLong(GradMode::is_enabled()); }

PyMethodDef mode_scope_methods[] = {
    {"__enter__", &enter_mode, METH_NOARGS, "Sets the mode of this thread."},
    {"__exit__", &leave_mode, METH_VARARGS, "Restores the former mode."},
    {nullptr, nullptr, 0, nullptr},
};

void add_mode(PyObject* module, const char* name, newfunc create, const char* doc) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>(doc)},
      {Py_tp_new, reinterpret_cast<void*>(create)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&mode_scope_dealloc)},
      {Py_tp_methods, mode_scope_methods},
      {0, nullptr},
  };
  PyType_Spec spec = {name, sizeof(GradModeScope), 0, Py_TPFLAGS_DEFAULT, slots};
  PyRef type = PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
  checked(PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type.get())));
}

}  // namespace

void add_modes(PyObject* module) {
  add_mode(module, "slotcore.no_grad", &new_no_grad,
           "no_grad(): context manager; inside, operations are not recorded in a graph.");
  add_mode(module, "slotcore.enable_grad", &new_enable_grad,
           "enable_grad(): context manager; inside, operations are recorded in a graph.");
  add_mode(module, "slotcore.set_grad_enabled", &new_set_grad_enabled,
           "set_grad_enabled(mode): sets the mode; as a context manager, restores the former one.");
}

PyMethodDef mode_methods[] = {
    {"is_grad_enabled", &is_grad_enabled, METH_NOARGS,
     "is_grad_enabled() -> bool, for this thread."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace slotcore::python
