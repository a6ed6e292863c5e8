// device: the Python objects of the devices, `slotcore.device("meta")` and so on. As in torch they
// are values: equal by name, and `str()` gives the name.
#pragma once

#include <Python.h>

#include "core/c10/device.h"
#include "core/python/runtime/module_state.h"

namespace slotcore::python {

// Makes the type and its only instances, and adds the type to the module. Throws PythonErrorSet.
void add_devices(PyObject* module, ModuleState* state);

// A new reference.
PyObject* device_object(ModuleState* state, Device device);
// From a device, its name, or None or null for cpu. Throws PythonErrorSet: RuntimeError for another
// name, TypeError for another object.
Device device_of(ModuleState* state, PyObject* object);

}  // namespace slotcore::python
