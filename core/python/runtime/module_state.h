// ModuleState: every Python object that the module slotcore holds, one per module object. A wrapper
// reaches it through its Interpreter, which resets its pointer when the module ends.
#pragma once

#include <Python.h>

#include <array>
#include <iterator>

#include "core/c10/device.h"
#include "core/c10/tensor/scalar_type.h"

namespace slotcore::python {

class Interpreter;

inline constexpr size_t kScalarTypes = 0
#define ROW(type, name) +1
    SLOTCORE_SCALAR_TYPES(ROW)
#undef ROW
    ;

struct ModuleState {
  Interpreter* interpreter;       // borrowed: never freed
  PyTypeObject* storage_base;     // StorageBase, the C part
  PyTypeObject* untyped_storage;  // UntypedStorage, the class of new wrappers
  PyTypeObject* tensor_base;
  PyTypeObject* tensor;
  PyTypeObject* parameter;  // nn.Parameter
  PyTypeObject* dtype_type;
  PyTypeObject* device_type;
  PyTypeObject* node;               // the base class of graph nodes
  PyObject* node_types;             // dict: its subclasses by the name of the node
  PyTypeObject* function_base;      // the base class of every ctx
  PyTypeObject* backward_function;  // of those that a Function with a static forward gets
  PyTypeObject* function;
  PyTypeObject* handle_type;     // RemovableHandle
  PyTypeObject* desc_type;       // MetaTensorDesc
  PyTypeObject* describer_type;  // MetaTensorDescriber
  PyTypeObject* converter_type;  // MetaConverter
  PyTypeObject* fake_mode_type;  // FakeTensorMode
  PyTypeObject* shape_env_type;  // ShapeEnv
  PyTypeObject* sym_int_type;    // SymInt
  PyTypeObject* sym_bool_type;   // SymBool
  PyTypeObject* graph_type;      // GraphModule
  unsigned long long next_hook;  // the key of the next hook
  std::array<PyObject*, kScalarTypes> dtypes;
  std::array<PyObject*, std::size(kDevices)> devices;

  int traverse(visitproc visit, void* arg) const;
  void clear();
};

extern PyModuleDef slotcore_module;

ModuleState* state_of_module(PyObject* module) noexcept;
// The state of the module that made `type` or one of its bases. Throws PythonErrorSet.
ModuleState* state_of_type(PyTypeObject* type);
// The state for a wrapper. Throws PythonErrorSet when the module has ended.
ModuleState* state_of_wrapper(PyObject* self);

}  // namespace slotcore::python
