// See Note [Why a metaclass]. tp_new does it and not tp_init, because a program can skip tp_init,
// while CPython refuses `type.__new__(metaclass, ...)` for a metaclass that has its own tp_new.

#include "core/python/preserve/wrapper_type.h"

namespace slotcore::python {
namespace {

PyObject* metaclass_new(PyTypeObject* metaclass, PyObject* args, PyObject* kwargs) {
  PyObject* object = PyType_Type.tp_new(metaclass, args, kwargs);
  if (object == nullptr) return nullptr;
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  type->tp_dealloc = type->tp_base->tp_dealloc;
  type->tp_traverse = type->tp_base->tp_traverse;
  type->tp_clear = type->tp_base->tp_clear;
  return object;
}

// A class refers to its metaclass. The traverse of `type` omits it, because most are static.
int metaclass_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return PyType_Type.tp_traverse(self, visit, arg);
}

}  // namespace

PyRef make_metaclass(PyObject* module, const char* qualified_name) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("Metaclass that keeps subclasses preservable.")},
      {Py_tp_new, reinterpret_cast<void*>(&metaclass_new)},
      {Py_tp_traverse, reinterpret_cast<void*>(&metaclass_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(PyType_Type.tp_clear)},
      {0, nullptr},
  };
  PyType_Spec spec = {qualified_name, static_cast<int>(PyType_Type.tp_basicsize),
                      static_cast<int>(PyType_Type.tp_itemsize),
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(
      module, &spec, reinterpret_cast<PyObject*>(&PyType_Type))));
}

PyRef make_wrapper_class(PyObject* metaclass, const char* name, PyObject* base, const char* doc) {
  return PyRef::steal(checked(PyObject_CallFunction(metaclass, "s(O){s:s,s:s}", name, base,
                                                    "__module__", "slotcore", "__doc__", doc)));
}

}  // namespace slotcore::python
