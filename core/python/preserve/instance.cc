// The layout of an instance (`__dict__`, `__slots__`, weak references) in each version of CPython.

#include "core/python/preserve/instance.h"

#include "core/python/runtime/py_ref.h"

namespace slotcore::python {
namespace {

#if PY_VERSION_HEX >= 0x030C0000
constexpr int kReadOnly = Py_READONLY;
#else
constexpr int kReadOnly = READONLY;
#endif

// Calls `each(PyObject**)` for each `__slots__` entry of the classes of `self`. The member
// descriptors follow the type object, whose size is that of its metaclass.
template <class Each>
int for_each_slot(PyObject* self, Each each) noexcept {
  for (PyTypeObject* type = Py_TYPE(self); type != nullptr; type = type->tp_base) {
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) break;
    auto* member = reinterpret_cast<PyMemberDef*>(reinterpret_cast<char*>(type) +
                                                  Py_TYPE(type)->tp_basicsize);
    for (Py_ssize_t i = 0; i < Py_SIZE(type); i++, member++) {
      if (member->type != kObjectSlot || (member->flags & kReadOnly) != 0) continue;
      auto** value = reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + member->offset);
      if (int stop = each(value); stop != 0) return stop;
    }
  }
  return 0;
}

int visit_dict(PyObject* self, visitproc visit, void* arg) noexcept {
#if PY_VERSION_HEX >= 0x030C0000
  if (PyType_HasFeature(Py_TYPE(self), Py_TPFLAGS_MANAGED_DICT)) {
#if PY_VERSION_HEX >= 0x030D0000
    return PyObject_VisitManagedDict(self, visit, arg);
#else
    return _PyObject_VisitManagedDict(self, visit, arg);
#endif
  }
#endif
  PyObject** dict = _PyObject_GetDictPtr(self);
  if (dict != nullptr) Py_VISIT(*dict);
  return 0;
}

void clear_dict(PyObject* self) noexcept {
#if PY_VERSION_HEX >= 0x030C0000
  if (PyType_HasFeature(Py_TYPE(self), Py_TPFLAGS_MANAGED_DICT)) {
#if PY_VERSION_HEX >= 0x030D0000
    unless_killed([&] { PyObject_ClearManagedDict(self); });
#else
    unless_killed([&] { _PyObject_ClearManagedDict(self); });
#endif
    return;
  }
#endif
  PyObject** dict = _PyObject_GetDictPtr(self);
  if (dict != nullptr) clear(*dict);
}

}  // namespace

int visit_instance(PyObject* self, visitproc visit, void* arg) noexcept {
  int stop = for_each_slot(self, [&](PyObject** value) {
    Py_VISIT(*value);
    return 0;
  });
  return stop != 0 ? stop : visit_dict(self, visit, arg);
}

void clear_instance(PyObject* self) noexcept {
  for_each_slot(self, [](PyObject** value) {
    clear(*value);
    return 0;
  });
  clear_dict(self);
}

void clear_weak_references(PyObject* self) noexcept {
  bool possible = Py_TYPE(self)->tp_weaklistoffset > 0;
#if PY_VERSION_HEX >= 0x030C0000
  possible = possible || PyType_HasFeature(Py_TYPE(self), Py_TPFLAGS_MANAGED_WEAKREF);
#endif
  if (possible) PyObject_ClearWeakRefs(self);
}

}  // namespace slotcore::python
