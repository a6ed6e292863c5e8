// on_device(): a context manager that marks the nodes made inside with a device. PyTorch marks them
// with the device of their tensors, of which the core has one.

#include "core/autograd/current_device.h"
#include "core/python/autograd/graph.h"

namespace slotcore::python {
namespace {

using autograd::CurrentDevice;

struct DeviceScope {
  PyObject_HEAD int wanted;
  int former;
  bool entered;
};

DeviceScope* as_device_scope(PyObject* self) { return reinterpret_cast<DeviceScope*>(self); }

PyObject* new_device_scope(PyTypeObject* type, PyObject* args, PyObject*) {
  int device;
  if (!PyArg_ParseTuple(args, "i:on_device", &device)) return nullptr;
  if (device < 0 || device >= autograd::kDevicesMax) {
    return PyErr_Format(PyExc_ValueError, "the device must be from 0 to %d, not %d",
                        autograd::kDevicesMax - 1, device);
  }
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) as_device_scope(self)->wanted = device;
  return self;
}

PyObject* enter_device(PyObject* self, PyObject*) {
  if (as_device_scope(self)->entered) {
    PyErr_SetString(PyExc_RuntimeError, "this scope has been entered already");
    return nullptr;
  }
  as_device_scope(self)->former = CurrentDevice::get();
  as_device_scope(self)->entered = true;
  CurrentDevice::set(as_device_scope(self)->wanted);
  Py_RETURN_NONE;
}

PyObject* leave_device(PyObject* self, PyObject*) {
  if (!as_device_scope(self)->entered) {
    PyErr_SetString(PyExc_RuntimeError, "this scope has not been entered");
    return nullptr;
  }
  as_device_scope(self)->entered = false;
  CurrentDevice::set(as_device_scope(self)->former);
  Py_RETURN_FALSE;  // an exception propagates
}

void device_scope_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef device_scope_methods[] = {
    {"__enter__", &enter_device, METH_NOARGS, "Sets the device of this thread's nodes."},
    {"__exit__", &leave_device, METH_VARARGS, "Restores the former one."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void add_on_device(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc,
       const_cast<char*>("on_device(n): context manager; the thread of device n runs the "
                         "nodes that are made inside.")},
      {Py_tp_new, reinterpret_cast<void*>(&new_device_scope)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&device_scope_dealloc)},
      {Py_tp_methods, device_scope_methods},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.on_device", sizeof(DeviceScope), 0, Py_TPFLAGS_DEFAULT, slots};
  PyRef type = PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
  checked(PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type.get())));
}

}  // namespace slotcore::python
