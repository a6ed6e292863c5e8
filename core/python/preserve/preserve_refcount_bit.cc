// The refcount-bit protocol: how a wrapper survives when Python drops its last reference while the
// impl lives on. The wrapper owns one strong reference to the impl for its whole life. While there
// are other owners, the impl owns one reference to the wrapper; Note [The wrapper's bit] in
// core/c10/impl/protocol/combined_count.h. So CPython can treat a wrapper like any other object:
// finalizers, weak references and the collector need no exception.

#include "core/c10/check.h"
#include "core/c10/impl/refcount_bit.h"
#include "core/c10/trace.h"
#include "core/python/runtime/collector.h"
#include "core/python/preserve/preservation.h"

namespace slotcore::python::preserve {

const char* const kProtocol = "refcount-bit";

PyObject* reuse(PyObject* object, intrusive_ptr_target* target) noexcept {
  Py_INCREF(object);
  raw::decref(target);
  return object;
}

void adopt(PyObject*, intrusive_ptr_target* target) noexcept {
  impl::preservation::adopt_wrapper(target);
}

bool try_preserve(Wrapper* self) noexcept {
  // With other owners, the impl's reference would keep the wrapper alive.
  SLOTCORE_CHECK(!is_governed(self) || raw::use_count(self->impl) == 1);
  return false;
}

bool expire(Wrapper* self) noexcept {
  if (self->hermetic) return true;
  impl::PyObjectSlot* slot = self->impl->pyobj_slot();
  SLOTCORE_CHECK(slot->unchecked_pyobj() == reinterpret_cast<PyObject*>(self));
  // Clear the slot first: a weak lock that comes now finds the bit, and must not find the wrapper.
  slot->clear_pyobj();
  trace("slot cleared", {"impl", self->impl}, {"wrapper", self});
  bool expired = raw::release_if_unique(self->impl);
  SLOTCORE_CHECK(expired);
  return true;
}

bool take_over(Wrapper*) noexcept { return false; }

bool holds_wrapper(intrusive_ptr_target* impl) noexcept { return raw::use_count(impl) > 1; }

bool is_hidden(Wrapper* self) noexcept {
  // The collector does not find the impl's reference to the wrapper, unless the only other owner is
  // garbage as well (visit_sole_owned). refuses_clear() needs the number of owners later.
  if (is_governed(self)) self->owners_traversed = raw::use_count(self->impl);
  return false;
}

bool refuses_clear(const Wrapper* self) noexcept {
  // If code that ran since the collector's pass has made an owner, the wrapper is not garbage.
  return is_governed(self) && raw::use_count(self->impl) > self->owners_traversed;
}

bool owns_for(Wrapper* self, visitproc visit) noexcept {
  if (!has_reachable_impl(self) || self->dying) return false;
  if (collector::is_subtracting(visit)) self->sole_owner = raw::use_count(self->impl) == 1;
  return self->sole_owner;
}

bool is_sole_owned(intrusive_ptr_target* target, uint32_t owners) noexcept {
  // The references from owners, and the one from the wrapper.
  bool has_wrapper = target->pyobj_slot()->unchecked_pyobj() != nullptr;
  return raw::use_count(target) == (has_wrapper ? owners + 1 : owners);
}

bool visit_sole_owned(const Interpreter* interpreter, intrusive_ptr_target* target, uint32_t owners,
                      visitproc visit, void* arg, int* stop) noexcept {
  *stop = 0;
  if (collector::is_subtracting(visit) && !is_sole_owned(target, owners)) return false;
  impl::PyObjectSlot* slot = target->pyobj_slot();
  PyObject* object = slot->unchecked_pyobj();
  if (object == nullptr) return true;
  if (slot->pyobj_interpreter() != interpreter->tag()) return false;
  *stop = visit(object, arg);
  return Py_REFCNT(object) == 1;
}

bool keeps_impl_after_the_end() noexcept { return false; }

}  // namespace slotcore::python::preserve
