// The Python type of a StorageImpl: StorageBase in C, UntypedStorage derived from it.
#pragma once

#include <Python.h>

#include "core/c10/storage_impl.h"
#include "core/python/runtime/module_state.h"
#include "core/python/runtime/py_ref.h"
#include "core/python/preserve/wrapper.h"

namespace slotcore::python {

// StorageBase. Throws PythonErrorSet.
PyRef make_storage_base(PyObject* module);

// The wrapper of a storage. If the storage belongs to another interpreter, the wrapper of a new
// storage that shares the data (T2). A new reference; throws PythonErrorSet.
PyObject* wrap_storage(ModuleState* state, intrusive_ptr<StorageImpl> storage);

// An int in 0..255. Throws PythonErrorSet (TypeError, RuntimeError).
uint8_t byte_of(PyObject* object);

// The storage of a method's `self`.
inline StorageImpl* self_storage(PyObject* self) { return impl_of<StorageImpl>(self); }

// The storage behind a Python object, or null if it is not a storage of this module.
StorageImpl* as_storage(ModuleState* state, PyObject* object);

// Visits what a storage owns, if the storage has only `owners` references (P5).
int visit_storage(const Interpreter* interpreter, StorageImpl* storage, uint32_t owners,
                  visitproc visit, void* arg);

// storage_bytes.cc: the bytes as a sequence and as a buffer.
PyObject* storage_copy(PyObject* self, PyObject* source);
PyObject* storage_fill(PyObject* self, PyObject* value);
PyObject* storage_tolist(PyObject* self, PyObject*);
Py_ssize_t storage_length(PyObject* self);
PyObject* storage_item(PyObject* self, Py_ssize_t index);
PyObject* storage_subscript(PyObject* self, PyObject* key);
int storage_assign_subscript(PyObject* self, PyObject* key, PyObject* value);
int storage_get_buffer(PyObject* self, Py_buffer* view, int flags);
void storage_release_buffer(PyObject* self, Py_buffer* view);

// buffer.cc: the bytes of any Python object that exports a buffer. The object is kept until a
// thread deletes the DataPtr. `length` receives the number of bytes. Throws PythonErrorSet.
DataPtr data_of_buffer(Interpreter* interpreter, PyObject* exporter, Py_ssize_t offset,
                       Py_ssize_t* length);
// The object of this interpreter that exports the bytes of a storage, or null, also while other
// storages share the bytes, unless `of_shared`. Borrowed.
PyObject* exporter_of(const Interpreter* interpreter, const StorageImpl* storage,
                      bool of_shared) noexcept;
// Calls `visit` with that object, as a traversal must.
int visit_exporter(const Interpreter* interpreter, const StorageImpl* storage, visitproc visit,
                   void* arg) noexcept;

}  // namespace slotcore::python
