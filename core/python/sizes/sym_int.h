// ShapeEnv, SymInt and SymBool as Python objects. Each owns its environment, which knows none of
// them but one object of itself.
#pragma once

#include <optional>

#include "core/meta/sizes/shared_env.h"
#include "core/python/runtime/module_state.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

PyRef make_shape_env_type(PyObject* module);
PyRef make_sym_int_type(PyObject* module);
PyRef make_sym_bool_type(PyObject* module);
// Functions of the submodule _meta.
extern PyMethodDef shape_env_functions[];
// Functions of the module.
extern PyMethodDef sym_int_functions[], sym_bool_functions[];

// The object of an environment: the same one while there is one. A new reference; throws
// PythonErrorSet.
PyObject* env_object(ModuleState* state, meta::EnvPtr env);
// Throws PythonErrorSet (TypeError) for another object.
const meta::EnvPtr& checked_env(ModuleState* state, PyObject* object);

// An int, or a SymInt for a symbolic number. Throws PythonErrorSet.
PyObject* size_object(ModuleState* state, const SymInt& size);
// For a symbol that is added to an environment only when its object exists (M14): a new object, and
// the same one when it has its number.
PyRef reserved_size(ModuleState* state);
PyObject* with_number(PyRef reserved, SymInt number) noexcept;
// A tuple of such objects.
PyObject* tuple_of(ModuleState* state, const SymDims& dims);
bool is_size_object(const ModuleState* state, PyObject* object) noexcept;
// The number behind an int or a SymInt; nullopt for anything else. Throws PythonErrorSet for an int
// beyond 64 bits.
std::optional<SymInt> size_of(const ModuleState* state, PyObject* object);
// A bool if the expression is a constant, else a SymBool. Throws PythonErrorSet.
PyObject* condition_object(ModuleState* state, const meta::EnvPtr& env,
                           const meta::Relation& relation);

}  // namespace slotcore::python
