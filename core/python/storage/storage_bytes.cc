// The bytes of a storage as a sequence of ints and as a Python buffer.

#include <cstring>

#include "core/c10/impl/operation_tracer_tls.h"
#include "core/python/storage/storage.h"

namespace slotcore::python {
namespace {

uint8_t* bytes_of(StorageImpl* storage) { return static_cast<uint8_t*>(storage->data()); }

bool is_meta(const StorageImpl* storage) { return storage->device() == Device::kMeta; }

// For what must read bytes. Throws NoDataError on meta, where writing changes nothing.
void check_readable(const StorageImpl* storage) {
  if (is_meta(storage)) throw NoDataError("a storage on meta has no bytes");
}

// Before a write. A trace has no node for it (M11).
void begin_write(StorageImpl* storage) {
  impl::check_untraced("a write of the bytes of a storage");
  storage->note_write();
}

// Converts an index, which may count from the end, to a position. Throws PythonErrorSet.
size_t checked_index(StorageImpl* storage, PyObject* key) {
  Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred()) throw PythonErrorSet{};
  auto length = static_cast<Py_ssize_t>(storage->nbytes());
  if (index < -length || index >= length) {
    throw_python(PyExc_IndexError, "index %zd is outside of a storage of %zd bytes", index, length);
  }
  return index < 0 ? index + length : index;
}

// The same for writing: as in torch the index may not count from the end, and the error is a
// RuntimeError.
size_t checked_place(StorageImpl* storage, PyObject* key) {
  Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_RuntimeError);
  if (index == -1 && PyErr_Occurred()) throw PythonErrorSet{};
  auto length = static_cast<Py_ssize_t>(storage->nbytes());
  if (index < 0 || index >= length) {
    throw_python(PyExc_RuntimeError, "index %zd is outside of a storage of %zd bytes", index,
                 length);
  }
  return index;
}

struct Range {
  size_t begin;
  size_t length;
};

Range checked_range(StorageImpl* storage, PyObject* slice) {
  Py_ssize_t begin, end, step;
  checked(PySlice_Unpack(slice, &begin, &end, &step));
  if (step != 1) throw_python(PyExc_RuntimeError, "a storage has only slices of step 1");
  Py_ssize_t length = PySlice_AdjustIndices(storage->nbytes(), &begin, &end, step);
  return {static_cast<size_t>(begin), static_cast<size_t>(length)};
}

[[noreturn]] void throw_bad_key(PyObject* key) {
  throw_python(PyExc_TypeError, "a storage is indexed by an int or a slice, not by %s",
               Py_TYPE(key)->tp_name);
}

}  // namespace

uint8_t byte_of(PyObject* object) {
  PyRef number = PyRef::steal(checked(PyNumber_Index(object)));
  int overflow = 0;
  long value = PyLong_AsLongAndOverflow(number.get(), &overflow);
  if (overflow != 0 || value < 0 || value > 255)
    throw_python(PyExc_RuntimeError, "a byte must be in 0..255, got %R", number.get());
  return static_cast<uint8_t>(value);
}

Py_ssize_t storage_length(PyObject* self) {
  return guarded([&] { return static_cast<Py_ssize_t>(self_storage(self)->nbytes()); });
}

PyObject* storage_item(PyObject* self, Py_ssize_t index) {
  return guarded([&] {
    StorageImpl* storage = self_storage(self);
    if (index < 0 || index >= static_cast<Py_ssize_t>(storage->nbytes()))
      throw_python(PyExc_IndexError, "index %zd is outside of the storage", index);
    check_readable(storage);
    return PyLong_FromLong(bytes_of(storage)[index]);
  });
}

PyObject* storage_subscript(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    StorageImpl* storage = self_storage(self);
    if (PyIndex_Check(key)) {
      size_t index = checked_index(storage, key);
      check_readable(storage);
      return PyLong_FromLong(bytes_of(storage)[index]);
    }
    if (!PySlice_Check(key)) throw_bad_key(key);
    // As in torch, a slice is another storage over the same bytes, of the same class.
    Range range = checked_range(storage, key);
    return checked(construct(as_wrapper(self)->interpreter, Py_TYPE(self),
                             storage->share(range.begin, range.length, /*stays=*/true)));
  });
}

int storage_assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guarded([&]() -> int {
    StorageImpl* storage = self_storage(self);
    if (value == nullptr) throw_python(PyExc_TypeError, "bytes of a storage cannot be deleted");
    uint8_t byte = byte_of(value);
    // Convert the key last: user code in the value may have resized the storage.
    if (PyIndex_Check(key)) {
      size_t place = checked_place(storage, key);
      begin_write(storage);
      if (!is_meta(storage)) bytes_of(storage)[place] = byte;
    } else if (PySlice_Check(key)) {
      Range range = checked_range(storage, key);
      begin_write(storage);
      bool writes = range.length != 0 && !is_meta(storage);
      if (writes) std::memset(bytes_of(storage) + range.begin, byte, range.length);
    } else {
      throw_bad_key(key);
    }
    return 0;
  });
}

PyObject* storage_copy(PyObject* self, PyObject* source) {
  return guarded([&] {
    StorageImpl* from = as_storage(state_of_wrapper(self), source);
    StorageImpl* to = self_storage(self);
    if (from == nullptr) {
      throw_python(PyExc_TypeError, "expected an UntypedStorage, got %s",
                   Py_TYPE(source)->tp_name);
    }
    if (from->nbytes() != to->nbytes()) {
      throw_python(PyExc_RuntimeError, "the storages have %zu and %zu bytes", to->nbytes(),
                   from->nbytes());
    }
    begin_write(to);
    // Two storages may share bytes, as a slice and its source do.
    if (to->nbytes() != 0 && !is_meta(to)) {
      check_readable(from);
      std::memmove(to->data(), from->data(), to->nbytes());
    }
    return Py_NewRef(self);
  });
}

PyObject* storage_fill(PyObject* self, PyObject* value) {
  return guarded([&] {
    uint8_t byte = byte_of(value);
    StorageImpl* storage = self_storage(self);
    begin_write(storage);
    if (storage->nbytes() != 0 && !is_meta(storage))
      std::memset(storage->data(), byte, storage->nbytes());
    return Py_NewRef(self);
  });
}

PyObject* storage_tolist(PyObject* self, PyObject*) {
  return guarded([&] {
    StorageImpl* storage = self_storage(self);
    check_readable(storage);
    size_t length = storage->nbytes();
    PyRef list = PyRef::steal(checked(PyList_New(static_cast<Py_ssize_t>(length))));
    // Making the list may have run the collector, and so a resize: read the size again.
    for (size_t i = 0; i < length; i++) {
      long byte = i < storage->nbytes() ? bytes_of(storage)[i] : 0;
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), checked(PyLong_FromLong(byte)));
    }
    return list.release();
  });
}

int storage_get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded([&] {
    static char nothing;  // even an empty buffer needs an address
    StorageImpl* storage = self_storage(self);
    if (is_meta(storage)) throw_python(PyExc_BufferError, "a storage on meta has no bytes");
    void* bytes = storage->data() == nullptr ? &nothing : storage->data();
    checked(PyBuffer_FillInfo(view, self, bytes, static_cast<Py_ssize_t>(storage->nbytes()),
                              /*readonly=*/0, flags));
    storage->pin();
    return 0;
  });
}

void storage_release_buffer(PyObject* self, Py_buffer*) {
  static_cast<StorageImpl*>(as_wrapper(self)->impl)->unpin();
}

}  // namespace slotcore::python
