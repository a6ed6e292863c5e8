// The Python side of core/meta: descriptions, describers and converters as objects, and the
// submodules `_subclasses.meta_utils`, which has torch's names, and `_meta`, which has the rest.
#pragma once

#include <Python.h>

#include <functional>
#include <memory>

#include "core/meta/fake_mode.h"
#include "core/python/runtime/module_state.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

using DocumentPtr = std::shared_ptr<const meta::Document>;

// Each makes a type. Throws PythonErrorSet.
PyRef make_desc_type(PyObject* module);
PyRef make_describer_type(PyObject* module);
PyRef make_converter_type(PyObject* module);
PyRef make_fake_mode_type(PyObject* module);
PyRef make_graph_type(PyObject* module);
// Makes the submodules, once the types exist. Throws PythonErrorSet.
void add_meta(PyObject* module);

// A MetaTensorDesc: a document whose first root gives it its attributes.
PyObject* desc_object(ModuleState* state, DocumentPtr document);
// Throws PythonErrorSet (TypeError) for another object.
const DocumentPtr& document_of(ModuleState* state, PyObject* desc);
// A copy of the document's environment, the same one each time; null if all sizes are numbers.
const meta::EnvPtr& env_of_desc(PyObject* desc);

// What `use` makes of the description of tensors, by `options` but for is_parameter. Throws
// PythonErrorSet, and what `use` throws: then no table of the describer has changed (M14).
PyRef describe(ModuleState* state, PyObject* describer, PyObject* const* tensors, Py_ssize_t count,
               meta::MetaTensorDescriber::Options options,
               const std::function<PyRef(const DocumentPtr&)>& use);
// The numbers of entries in the tables of a describer. Throws PythonErrorSet for another object.
meta::MetaTensorDescriber::Sizes sizes_of_describer(ModuleState* state, PyObject* describer);
void sweep_describer(PyObject* describer);

// The describer and the converter of a mode, which they own. Throw PythonErrorSet.
PyRef describer_of(ModuleState* state, const intrusive_ptr<meta::FakeMode>& mode);
PyRef converter_of(ModuleState* state, const intrusive_ptr<meta::FakeMode>& mode);

// fake_tensor.cc: `fake_mode` and so on of tensors, and functions of the submodule fake_tensor.
extern PyGetSetDef tensor_fake_properties[];
extern PyMethodDef fake_tensor_functions[];
// graph.cc: make_fx for the submodule proxy_tensor, and a function of the submodule _meta.
extern PyMethodDef proxy_tensor_functions[];
extern PyMethodDef graph_functions[];
// The stack of modes of the thread, for the submodule _meta.
extern PyMethodDef mode_stack_functions[];
// The Python object of a mode. A new reference; throws PythonErrorSet.
PyObject* mode_object(ModuleState* state, intrusive_ptr<meta::FakeMode> mode);

// The environment of the converter's mode, or null. Throws PythonErrorSet.
meta::EnvPtr env_of_converter(ModuleState* state, PyObject* converter);
// A tuple of the fakes of the roots. Throws PythonErrorSet.
PyRef convert(ModuleState* state, PyObject* converter, const meta::Document& document,
              const meta::Symbols& symbols = {});
// (tensors, storages) of the describer's tables, then of the converter's.
PyRef memo_sizes(ModuleState* state, PyObject* converter);

}  // namespace slotcore::python
