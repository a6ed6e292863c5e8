// UntypedStorage: creation, wrapping, and the methods about the impl. Methods about its bytes are
// in storage_bytes.cc.

#include "core/python/storage/storage.h"

#include "core/python/preserve/weak_handle.h"
#include "core/python/runtime/device.h"
#include "core/python/sizes/sym_int.h"
#include "core/python/storage/reference_rows.h"

namespace slotcore::python {
namespace {

size_t checked_nbytes(PyObject* number) {
  Py_ssize_t nbytes = PyNumber_AsSsize_t(number, PyExc_RuntimeError);
  if (nbytes == -1 && PyErr_Occurred()) throw PythonErrorSet{};
  if (nbytes < 0)
    throw_python(PyExc_RuntimeError, "a storage cannot have %zd bytes", nbytes);
  return static_cast<size_t>(nbytes);
}

intrusive_ptr<StorageImpl> storage_of_sequence(PyObject* sequence) {
  PyRef items = PyRef::steal(PySequence_Fast(sequence, "expected an int or a sequence of ints"));
  if (!items) throw PythonErrorSet{};
  auto storage = make_storage(PySequence_Fast_GET_SIZE(items.get()));
  auto* bytes = static_cast<uint8_t*>(storage->data());
  for (size_t i = 0; i < storage->nbytes(); i++) {
    // Each round reads the item and the size again: `__index__` of an item may change the list.
    if (static_cast<Py_ssize_t>(i) >= PySequence_Fast_GET_SIZE(items.get()))
      throw_python(PyExc_RuntimeError, "the sequence became shorter while it was read");
    PyRef item = PyRef::borrow(PySequence_Fast_GET_ITEM(items.get(), i));
    bytes[i] = byte_of(item.get());
  }
  return storage;
}

PyObject* storage_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    ModuleState* state = state_of_type(type);
    if (type == state->storage_base)
      throw_python(PyExc_TypeError, "StorageBase cannot be created; use UntypedStorage");
    PyObject *source = nullptr, *name = nullptr;
    static const char* names[] = {"size", "device", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$O:UntypedStorage",
                                     const_cast<char**>(names), &source, &name)) {
      throw PythonErrorSet{};
    }
    Device device = device_of(state, name);
    bool is_sequence = source != nullptr && !PyIndex_Check(source);
    if (is_sequence && device == Device::kMeta)
      throw_python(PyExc_NotImplementedError, "a storage on meta has a size and no bytes");
    size_t size = source == nullptr || is_sequence ? 0 : checked_nbytes(source);
    return construct(state->interpreter, type,
                     is_sequence ? storage_of_sequence(source) : make_storage(size, device));
  });
}

// METH_CLASS, because a static method has no access to its module.
PyObject* new_with_weak_ptr(PyObject* type, PyObject* handle) {
  return guarded([&]() -> PyObject* {
    ModuleState* state = state_of_type(reinterpret_cast<PyTypeObject*>(type));
    auto storage = weak_handle::lock<StorageImpl>(handle);
    if (!storage) Py_RETURN_NONE;
    return wrap_storage(state, std::move(storage));
  });
}

PyObject* nbytes(PyObject* self, PyObject*) {
  return guarded(
      [&] { return size_object(state_of_wrapper(self), self_storage(self)->sym_nbytes()); });
}

PyObject* data_ptr(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromVoidPtr(self_storage(self)->data()); });
}

PyObject* use_count(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromUnsignedLong(raw::use_count(self_storage(self))); });
}

PyObject* resizable(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(self_storage(self)->resizable()); });
}

PyObject* resize(PyObject* self, PyObject* number) {
  return guarded([&] {
    size_t nbytes = checked_nbytes(number);
    self_storage(self)->resize(nbytes);
    return Py_NewRef(self);
  });
}

// Returns a storage of the same class, as in torch: calls its constructor.
PyObject* clone(PyObject* self, PyObject*) {
  return guarded([&] {
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(self));
    PyRef args = PyRef::steal(checked(Py_BuildValue("(n)", storage_length(self)))), kwargs;
    if (self_storage(self)->device() == Device::kMeta)
      kwargs = PyRef::steal(checked(Py_BuildValue("{s:s}", "device", name_of(Device::kMeta))));
    PyRef copy = called(PyObject_Call, type, args.get(), kwargs.get());
    called(PyObject_CallMethod, copy.get(), "copy_", "O", self);
    return copy.release();
  });
}

PyObject* get_device(PyObject* self, void*) {
  return guarded(
      [&] { return device_object(state_of_wrapper(self), self_storage(self)->device()); });
}

PyObject* get_cdata(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromVoidPtr(self_storage(self)); });
}

int storage_traverse(PyObject* self, visitproc visit, void* arg) {
  if (int stop = preserve::traverse(self, &storage_traverse, visit, arg); stop != 0) return stop;
  Wrapper* wrapper = as_wrapper(self);
  if (!preserve::owns_for(wrapper, visit)) return 0;
  auto* storage = static_cast<StorageImpl*>(wrapper->impl);
  return visit_exporter(wrapper->interpreter, storage, visit, arg);
}

PyObject* owned_by_cpp(PyObject* self, PyObject*) {
  return guarded([&] {
    StorageImpl* storage = self_storage(self);
    ReferenceRows rows;
    rows.add_impl_of(self, "storage");
    rows.add_exporter_of(storage);
    return rows.take().release();
  });
}

PyMethodDef methods[] = {
    {"nbytes", &nbytes, METH_NOARGS, "nbytes() -> int: the number of bytes."},
    {"size", &nbytes, METH_NOARGS, "size() -> int: the number of elements, which are bytes."},
    {"data_ptr", &data_ptr, METH_NOARGS, "data_ptr() -> int: address of the first byte, or 0."},
    {"resizable", &resizable, METH_NOARGS, "resizable() -> bool: whether resize_ is possible."},
    {"resize_", &resize, METH_O,
     "resize_(nbytes) -> self: moves to another size; new bytes are 0. RuntimeError if it is not\n"
     "resizable or too large, BufferError while a buffer is exported."},
    {"copy_", &storage_copy, METH_O,
     "copy_(source) -> self: copies all bytes. RuntimeError if the sizes differ."},
    {"fill_", &storage_fill, METH_O, "fill_(value) -> self: sets every byte."},
    {"tolist", &storage_tolist, METH_NOARGS, "tolist() -> list of ints."},
    {"clone", &clone, METH_NOARGS,
     "clone() -> a storage of the same class, made from its size: a copy of the bytes."},
    {"_owned_by_cpp", &owned_by_cpp, METH_NOARGS,
     "_owned_by_cpp() -> list: as for tensors, what the storage owns in C++."},
    {"_use_count", &use_count, METH_NOARGS,
     "_use_count() -> int: strong references of the StorageImpl, the wrapper's included."},
    {"_fix_weakref", &weak_handle::fix_weakref, METH_NOARGS,
     "_fix_weakref(): call it on the result of a weak reference: makes the wrapper own\n"
     "the StorageImpl again. Changes no reference count otherwise."},
    {"_weak_ref", &weak_handle::weak_ref, METH_NOARGS,
     "_weak_ref() -> int: a handle of a C++ weak reference; free it with _free_weak_ref."},
    {"_expired", &weak_handle::expired, METH_O | METH_STATIC,
     "_expired(handle) -> bool: whether the StorageImpl is gone. Once true, it stays true."},
    {"_free_weak_ref", &weak_handle::free_weak_ref, METH_O | METH_STATIC,
     "_free_weak_ref(handle): frees a handle; it must not be used again."},
    {"_new_with_weak_ptr", &new_with_weak_ptr, METH_O | METH_CLASS,
     "_new_with_weak_ptr(handle) -> UntypedStorage, or None when the StorageImpl is gone."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"_cdata", &get_cdata, nullptr, "Address of the StorageImpl.", nullptr},
    {"device", &get_device, nullptr, "Where the bytes are: cpu, or meta for none.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

PyRef make_storage_base(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("The base class of UntypedStorage; it cannot be created.")},
      {Py_tp_new, reinterpret_cast<void*>(&storage_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&preserve::dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(&storage_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(&preserve::clear)},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {Py_sq_item, reinterpret_cast<void*>(&storage_item)},
      {Py_mp_length, reinterpret_cast<void*>(&storage_length)},
      {Py_mp_subscript, reinterpret_cast<void*>(&storage_subscript)},
      {Py_mp_ass_subscript, reinterpret_cast<void*>(&storage_assign_subscript)},
      {Py_bf_getbuffer, reinterpret_cast<void*>(&storage_get_buffer)},
      {Py_bf_releasebuffer, reinterpret_cast<void*>(&storage_release_buffer)},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.StorageBase", sizeof(Wrapper), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

PyObject* wrap_storage(ModuleState* state, intrusive_ptr<StorageImpl> storage) {
  try {
    return checked(wrap(state->interpreter, state->untyped_storage, storage));
  } catch (const impl::ForeignInterpreterError&) {
    auto own = storage->share(0, storage->nbytes());
    return checked(wrap(state->interpreter, state->untyped_storage, own));
  }
}

StorageImpl* as_storage(ModuleState* state, PyObject* object) {
  if (!PyObject_TypeCheck(object, state->storage_base)) return nullptr;
  return impl_of<StorageImpl>(object);
}

int visit_storage(const Interpreter* interpreter, StorageImpl* storage, uint32_t owners,
                  visitproc visit, void* arg) {
  int stop;
  bool goes_on = preserve::visit_sole_owned(interpreter, storage, owners, visit, arg, &stop);
  if (stop != 0 || !goes_on) return stop;
  return visit_exporter(interpreter, storage, visit, arg);
}

}  // namespace slotcore::python
