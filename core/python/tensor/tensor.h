// The Python type of a TensorImpl: TensorBase in C, Tensor derived from it. Its methods are in one
// file per topic; tensor.cc combines them.
//
// Note [Arguments first]
// Converting an argument may run user code, which may swap the impl of any wrapper for another one
// (swap_tensors.cc) and free the former. So a method converts its arguments first and reads impls
// afterwards, and keeps no pointer to an impl while Python code may run.
#pragma once

#include <Python.h>

#include "core/c10/tensor/tensor_impl.h"
#include "core/python/preserve/wrapper.h"
#include "core/python/runtime/module_state.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

struct TensorWrapper {
  Wrapper wrapper;
  PyObject* backward_hooks;  // null for none; instance.cc visits and clears it as it does slots
};

// TensorBase, with the methods and properties of this folder and further ones. Throws
// PythonErrorSet.
PyRef make_tensor_base(PyObject* module, std::initializer_list<const PyMethodDef*> methods,
                       std::initializer_list<const PyGetSetDef*> properties);

// The wrapper of a tensor. A new reference; throws PythonErrorSet, and ForeignInterpreterError if
// the tensor belongs to another interpreter (T2).
PyObject* wrap_tensor(ModuleState* state, intrusive_ptr<TensorImpl> tensor);
// The same for a tensor that only the caller has: this saves reading the slot.
PyObject* new_tensor(ModuleState* state, intrusive_ptr<TensorImpl> tensor);
// For an operation that returns its own tensor: wraps it again, so in hermetic mode the result is a
// fresh wrapper (H1). Errors as for wrap_tensor().
PyObject* wrapped_again(PyObject* self);

// The tensor behind `self` of a method. Throws PythonErrorSet. See Note [Arguments first].
inline TensorImpl& self_tensor(PyObject* self) { return *impl_of<TensorImpl>(self); }
// The tensor behind a Python object, or null if it is not a tensor of this module.
TensorImpl* as_tensor(ModuleState* state, PyObject* object);
// The same, but throws a TypeError that names `function` instead of returning null.
TensorImpl& checked_tensor(ModuleState* state, PyObject* object, const char* function);

// Sizes from `(2, 3)` or from `((2, 3),)`. Throws PythonErrorSet.
Dims dims_of_arguments(PyObject* const* args, Py_ssize_t count);
Dims dims_of_sequence(PyObject* sequence);
// The same if one of the arguments is a SymInt; nullopt if none is.
std::optional<SymDims> sym_dims_of_arguments(const ModuleState* state, PyObject* const* args,
                                             Py_ssize_t count);
PyObject* tuple_of(const Dims& dims);

// tensor_traverse.cc
int tensor_traverse(PyObject* self, visitproc visit, void* arg) noexcept;

// tensor_data.cc: sizes, storage, `.data`
extern PyMethodDef tensor_data_methods[];
extern PyGetSetDef tensor_data_properties[];

// tensor_views.cc: views, and tensors as containers
extern PyMethodDef tensor_view_methods[];
extern PyGetSetDef tensor_view_properties[];
Py_ssize_t tensor_length(PyObject* self);
PyObject* tensor_subscript(PyObject* self, PyObject* key);
int tensor_assign_subscript(PyObject* self, PyObject* key, PyObject* value);

// tensor_numbers.cc: elements as Python numbers
extern PyMethodDef tensor_number_methods[];
PyObject* tensor_float(PyObject* self);
PyObject* tensor_int(PyObject* self);
PyObject* tensor_index(PyObject* self);
int tensor_bool(PyObject* self);

// tensor_arithmetic.cc
extern PyMethodDef tensor_arithmetic_methods[];
PyObject* tensor_add(PyObject* a, PyObject* b);
PyObject* tensor_multiply(PyObject* a, PyObject* b);
PyObject* tensor_compare(PyObject* self, PyObject* other, int comparison);
Py_hash_t tensor_hash(PyObject* self);
// Writes a tensor or a number into `self`. `value` need not have the leading sizes of 1 of `self`.
// Throws PythonErrorSet.
void assign_elements(ModuleState* state, TensorImpl& self, PyObject* value);

// tensor_flags.cc
extern PyMethodDef tensor_flag_methods[];
extern PyGetSetDef tensor_flag_properties[];

// tensor_subclass.cc
extern PyMethodDef tensor_subclass_methods[];
// nn.Parameter. Throws PythonErrorSet.
PyRef make_parameter_class(PyObject* module, PyObject* metaclass);

// swap_tensors.cc
extern PyMethodDef swap_methods[];
// The submodule utils, with swap_tensors. Throws PythonErrorSet.
PyRef make_utils(PyObject* module);

// factories.cc: ones, zeros, empty, tensor, frombuffer, view_as_real.
extern PyMethodDef factory_methods[];
// From a number or nested lists; without `type`, the type is that of the numbers. Throws
// PythonErrorSet.
intrusive_ptr<TensorImpl> tensor_of_data(ModuleState* state, PyObject* data,
                                         const ScalarType* type);

}  // namespace slotcore::python
