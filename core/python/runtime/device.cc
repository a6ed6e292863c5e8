// One instance for each device; the constructor returns it.

#include "core/python/runtime/device.h"

#include "core/python/runtime/py_ref.h"

namespace slotcore::python {
namespace {

struct DeviceObject {
  PyObject_HEAD
  Device device;
};

Device value_of(PyObject* self) { return reinterpret_cast<DeviceObject*>(self)->device; }

PyObject* repr(PyObject* self) {
  return PyUnicode_FromFormat("device(type='%s')", name_of(value_of(self)));
}

PyObject* str(PyObject* self) { return PyUnicode_FromString(name_of(value_of(self))); }

PyObject* get_type(PyObject* self, void*) { return str(self); }

PyObject* get_index(PyObject*, void*) { Py_RETURN_NONE; }

PyObject* create(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"type", nullptr};
    PyObject* name;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:device", const_cast<char**>(names), &name))
      throw PythonErrorSet{};
    ModuleState* state = state_of_type(type);
    return device_object(state, device_of(state, name));
  });
}

// The module refers to its devices, a device to its class, and the class to the module.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}

void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyGetSetDef properties[] = {
    {"type", &get_type, nullptr, "The name: 'cpu' or 'meta'.", nullptr},
    {"index", &get_index, nullptr, "None: there is one of each.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

void add_devices(PyObject* module, ModuleState* state) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("device(name): where bytes are. A tensor on meta has none.")},
      {Py_tp_new, reinterpret_cast<void*>(&create)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
      {Py_tp_repr, reinterpret_cast<void*>(&repr)},
      {Py_tp_str, reinterpret_cast<void*>(&str)},
      {Py_tp_getset, properties},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.device", sizeof(DeviceObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
  PyObject* type = checked(PyType_FromModuleAndSpec(module, &spec, nullptr));
  state->device_type = reinterpret_cast<PyTypeObject*>(type);
  checked(PyModule_AddObjectRef(module, "device", type));
  for (Device device : kDevices) {
    PyObject* object = checked(state->device_type->tp_alloc(state->device_type, 0));
    reinterpret_cast<DeviceObject*>(object)->device = device;
    state->devices[static_cast<size_t>(device)] = object;
  }
}

PyObject* device_object(ModuleState* state, Device device) {
  return Py_NewRef(state->devices[static_cast<size_t>(device)]);
}

Device device_of(ModuleState* state, PyObject* object) {
  if (object == nullptr || object == Py_None) return Device::kCpu;
  if (Py_IS_TYPE(object, state->device_type)) return value_of(object);
  if (!PyUnicode_Check(object)) {
    throw_python(PyExc_TypeError, "device must be a device or its name, not %s",
                 Py_TYPE(object)->tp_name);
  }
  for (Device device : kDevices) {
    if (PyUnicode_CompareWithASCIIString(object, name_of(device)) == 0) return device;
  }
  throw_python(PyExc_RuntimeError, "there is no device %R; there are cpu and meta", object);
}

}  // namespace slotcore::python
