// External data: a storage over the bytes of a Python object.

#include <memory>

#include "core/c10/live_counts.h"
#include "core/python/runtime/collector.h"
#include "core/python/storage/storage.h"

namespace slotcore::python {
namespace {

struct ExportedBuffer {
  ExportedBuffer() noexcept { live_blocks.add(); }
  ExportedBuffer(const ExportedBuffer&) = delete;
  ExportedBuffer& operator=(const ExportedBuffer&) = delete;
  ~ExportedBuffer() { live_blocks.remove(); }

  Interpreter* interpreter;
  Py_buffer view;
};

// Borrows from the object that owns the bytes, if `view` is of a memoryview of them. Before CPython
// 3.12.7, the collector breaks a memoryview of a dead cycle although its bytes are exported, and
// the process crashes when they are released (gh-77894).
void skip_memoryview(Py_buffer* view) {
  PyObject* owner = PyMemoryView_Check(view->obj) ? PyMemoryView_GET_BASE(view->obj) : nullptr;
  if (owner == nullptr) return;
  Py_buffer whole;
  if (PyObject_GetBuffer(owner, &whole, PyBUF_WRITABLE) != 0) {
    PyErr_Clear();  // it lends its bytes only in another form, so the memoryview stays between
    return;
  }
  // An object may lend other bytes each time.
  const auto* first = static_cast<const char*>(whole.buf);
  const auto* part = static_cast<const char*>(view->buf);
  const bool has_part = part >= first && part + view->len <= first + whole.len;
  PyBuffer_Release(has_part ? view : &whole);
  if (has_part) *view = whole;
}

// Runs on the thread that drops the storage, which may not hold the GIL. It releases the buffer
// under the GIL, and the buffer releases its own reference to the exporter (T6).
void release_exported(void* context) noexcept;

}  // namespace

DataPtr data_of_buffer(Interpreter* interpreter, PyObject* exporter, Py_ssize_t offset,
                       Py_ssize_t* length) {
  auto buffer = std::make_unique<ExportedBuffer>();
  buffer->interpreter = interpreter;
  // The buffer must be writable, because a tensor may write to it.
  checked(PyObject_GetBuffer(exporter, &buffer->view, PyBUF_WRITABLE));
  char* bytes = static_cast<char*>(buffer->view.buf);
  *length = buffer->view.len;
  skip_memoryview(&buffer->view);
  DataPtr whole(bytes, buffer.release(), &release_exported);
  if (offset < 0 || offset > *length) {
    throw_python(PyExc_ValueError, "offset %zd is outside of a buffer of %zd bytes", offset,
                 *length);
  }
  if (offset == 0) return whole;
  return share_data(whole, offset);
}

PyObject* exporter_of(const Interpreter* interpreter, const StorageImpl* storage,
                      bool of_shared) noexcept {
  void* context = storage->context_of(&release_exported, of_shared);
  auto* buffer = static_cast<ExportedBuffer*>(context);
  if (buffer == nullptr || buffer->interpreter != interpreter) return nullptr;
  // The collector must not break a memoryview (skip_memoryview), so it does not hear of it.
  return PyMemoryView_Check(buffer->view.obj) ? nullptr : buffer->view.obj;
}

int visit_exporter(const Interpreter* interpreter, const StorageImpl* storage, visitproc visit,
                   void* arg) noexcept {
  // Data that becomes shared between two passes of the collector must be found in the second, too.
  Py_VISIT(exporter_of(interpreter, storage, !collector::is_subtracting(visit)));
  return 0;
}

namespace {

// Another thread may run the call later; the argument stays valid until then. After the end of the
// interpreter the call never runs, and the exporter is leaked on purpose.
void release_exported(void* context) noexcept {
  static_cast<ExportedBuffer*>(context)->interpreter->run([](void* argument) noexcept {
    std::unique_ptr<ExportedBuffer> buffer(static_cast<ExportedBuffer*>(argument));
    PendingException pending;
    PyBuffer_Release(&buffer->view);
  }, context);
}

}  // namespace
}  // namespace slotcore::python
