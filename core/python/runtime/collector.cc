// Runs a collection for a probe object, which records the visitor that reaches it first.

#include "core/python/runtime/collector.h"

#include <atomic>

#include "core/python/runtime/py_ref.h"

namespace slotcore::python::collector {
namespace {

// A function of CPython, the same in each interpreter. Relaxed: it leads to no other memory.
constinit std::atomic<visitproc> subtracting{nullptr};

int probe_traverse(PyObject*, visitproc visit, void*) {
  visitproc nobody = nullptr;
  subtracting.compare_exchange_strong(nobody, visit, std::memory_order_relaxed);
  return 0;
}

void probe_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  type->tp_free(self);
  Py_DECREF(type);
}

}  // namespace

void learn() {
  if (subtracting.load(std::memory_order_relaxed) != nullptr) return;
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(&probe_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(&probe_traverse)},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore._CollectorProbe", sizeof(PyObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
  PyRef type = PyRef::steal(checked(PyType_FromSpec(&spec)));
  auto* probe_type = reinterpret_cast<PyTypeObject*>(type.get());
  PyRef probe = PyRef::steal(checked(probe_type->tp_alloc(probe_type, 0)));
  PyRef gc = PyRef::steal(checked(PyImport_ImportModule("gc")));
  PyRef::steal(checked(PyObject_CallMethod(gc.get(), "collect", "i", 0)));
}

bool is_subtracting(visitproc visit) noexcept {
  visitproc known = subtracting.load(std::memory_order_relaxed);
  return known == nullptr || visit == known;
}

}  // namespace slotcore::python::collector
