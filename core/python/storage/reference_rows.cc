// Addresses as ints.

#include "core/python/storage/reference_rows.h"

#include <vector>

#include "core/python/preserve/instance.h"
#include "core/python/preserve/interpreter.h"
#include "core/python/storage/storage.h"

namespace slotcore::python {
namespace {

PyRef address_of(const void* object) {
  return PyRef::steal(checked(PyLong_FromVoidPtr(const_cast<void*>(object))));
}

}  // namespace

ReferenceRows::ReferenceRows() : list_(PyRef::steal(checked(PyList_New(0)))) {}

void ReferenceRows::add(const void* owner, const char* link, const void* owned, const char* name,
                        uint32_t references, bool is_in_cycle) {
  PyRef from = address_of(owner), to = address_of(owned);
  PyRef row = PyRef::steal(checked(Py_BuildValue("(OsOsIO)", from.get(), link, to.get(), name,
                                                 references, is_in_cycle ? Py_True : Py_False)));
  if (PyList_Append(list_.get(), row.get()) < 0) throw PythonErrorSet{};
}

void ReferenceRows::add_impl(const void* owner, const char* link, const intrusive_ptr_target* impl,
                             const char* name, bool is_in_cycle) {
  add(owner, link, impl, name, raw::use_count(impl), is_in_cycle);
}

void ReferenceRows::add_object(const void* owner, const char* link, const PyObject* object,
                               bool is_in_cycle) {
  add(owner, link, object, Py_TYPE(object)->tp_name, 0, is_in_cycle);
}

void ReferenceRows::add_instance(PyObject* self) {
  std::vector<PyObject*> objects = {reinterpret_cast<PyObject*>(Py_TYPE(self))};
  visit_instance(
      self,
      [](PyObject* object, void* found) {
        static_cast<std::vector<PyObject*>*>(found)->push_back(object);
        return 0;
      },
      &objects);
  for (PyObject* one : objects) add_object(self, "", one, false);
}

void ReferenceRows::add_impl_of(PyObject* wrapper, const char* name) {
  add_instance(wrapper);
  const Wrapper* self = as_wrapper(wrapper);
  if (!has_reachable_impl(self)) return;
  if (self->owned) add_impl(wrapper, self->hermetic ? "hermetic" : "impl", self->impl, name, false);
  add_wrapper_of(self->impl);
}

void ReferenceRows::add_exporter_of(const intrusive_ptr_target* impl) {
  const auto* storage = dynamic_cast<const StorageImpl*>(impl);
  if (storage == nullptr) return;
  PyObject* exporter = exporter_of(Interpreter::current(), storage, true);
  if (exporter == nullptr) return;
  const auto [bytes, number] = storage->shares();
  if (bytes != nullptr) add(storage, "data", bytes, "bytes", static_cast<uint32_t>(number), false);
  add_object(bytes == nullptr ? storage : bytes, "buffer", exporter, false);
}

void ReferenceRows::add_wrapper_of(intrusive_ptr_target* impl) {
  impl::PyObjectSlot* slot = impl->pyobj_slot();
  PyObject* wrapper = slot == nullptr ? nullptr : slot->unchecked_pyobj();
  // The judge asks after a line, and the slot may dangle in a core with a bug: only the address is
  // read, or the judge would crash instead of the program.
  if (wrapper == nullptr || !preserve::holds_wrapper(impl)) return;
  // This interpreter's collector does not list a wrapper of another one, so it cannot say that it
  // owns the impl.
  const Interpreter* here = Interpreter::current();
  if (here != nullptr && slot->pyobj_interpreter() != here->tag()) {
    add_impl(wrapper, "impl", impl, "impl", false);
  }
  add(impl, "wrapper", wrapper, "wrapper", 0, false);
}

}  // namespace slotcore::python
