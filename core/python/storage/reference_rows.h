// ReferenceRows: strong references as Python tuples, for `_owned_by_cpp()`.
#pragma once

#include "core/python/preserve/wrapper.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

// Its list has tuples of: the address of an owner, the name of the reference, the address of what
// it owns, the name of that, its strong references or 0 for a Python object, and whether it is in a
// cycle. The functions throw PythonErrorSet.
class ReferenceRows {
 public:
  ReferenceRows();

  // What an instance refers to in Python: its class, `__slots__` and `__dict__`.
  void add_instance(PyObject* self);
  // That of a wrapper, and the references between it and its impl. A wrapper that was made in
  // hermetic mode has another name for its reference.
  void add_impl_of(PyObject* wrapper, const char* name);
  // The reference of an impl to its wrapper, if it owns one. If that is a wrapper of another
  // interpreter, also the wrapper's reference to the impl.
  void add_wrapper_of(intrusive_ptr_target* impl);
  // The reference of a storage to the object whose bytes it has borrowed. If other storages share
  // the bytes, they own these together, and the bytes own the object. Nothing for other impls.
  void add_exporter_of(const intrusive_ptr_target* impl);
  void add_impl(const void* owner, const char* link, const intrusive_ptr_target* impl,
                const char* name, bool is_in_cycle);
  void add_object(const void* owner, const char* link, const PyObject* object, bool is_in_cycle);
  PyRef take() { return std::move(list_); }

 private:
  void add(const void* owner, const char* link, const void* owned, const char* name,
           uint32_t references, bool is_in_cycle);

  PyRef list_;
};

}  // namespace slotcore::python
