// ShapeEnv, SymInt and SymBool as Python objects. A SymInt and a SymBool own their environment,
// which knows none of them.
#pragma once

#include "core/meta/sizes/shape_env.h"
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

// A new reference. Throws PythonErrorSet.
PyObject* env_object(ModuleState* state, meta::ShapeEnv env);
// Throws PythonErrorSet (TypeError) for another object.
void check_env(ModuleState* state, PyObject* object);
// Of an object that is a ShapeEnv.
meta::ShapeEnv& env_of(PyObject* object) noexcept;
// An int if the expression is a constant, else a SymInt, which owns `env`. Throws PythonErrorSet.
PyObject* size_object(PyObject* env, const meta::SizeExpr& expr);
// A bool if the expression is a constant, else a SymBool, which owns `env`. Throws PythonErrorSet.
PyObject* condition_object(PyObject* env, const meta::Relation& relation);

}  // namespace slotcore::python
