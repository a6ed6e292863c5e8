// The resurrection protocol: how a wrapper survives when Python drops its last reference while the
// impl lives on. The states A, B and N are those of Note [Owner of the wrapper].
//
//   N ──wrap──▶ A ──last Python reference gone, the impl has C++ owners──▶ B
//   B ──wrap──▶ A (the slot's reference becomes the caller's)
//   B ──last C++ owner gone──▶ A, and the slot's reference is released: Note [Handing over]
//   A ──last Python reference gone, the impl has no C++ owner──▶ destroyed

#include "core/c10/check.h"
#include "core/c10/trace.h"
#include "core/python/runtime/collector.h"
#include "core/python/preserve/preservation.h"

namespace slotcore::python::preserve {

const char* const kProtocol = "resurrection";

namespace {

bool is_shared(const Wrapper* self) noexcept {
  return self->impl != nullptr && !self->dying && !self->hermetic && self->owned &&
         raw::use_count(self->impl) > 1;
}

}  // namespace

PyObject* reuse(PyObject* object, intrusive_ptr_target* target) noexcept {
  Wrapper* existing = as_wrapper(object);
  if (existing->owned) {
    Py_INCREF(object);
    raw::decref(target);
    return object;
  }
  target->pyobj_slot()->set_owns_pyobj(false);
  existing->owned = true;
  trace("wrapper resurrected", {"impl", target}, {"wrapper", object});
  return object;
}

void adopt(PyObject*, intrusive_ptr_target*) noexcept {}

bool try_preserve(Wrapper* self) noexcept {
  if (!is_shared(self)) return false;
  auto* object = reinterpret_cast<PyObject*>(self);
  intrusive_ptr_target* impl = self->impl;
  SLOTCORE_CHECK(impl->pyobj_slot()->unchecked_pyobj() == object);
  _Py_NewReference(object);
  // A collector that clears a dead cycle may have released that last reference. It would clear the
  // wrapper next, which state B does not refuse (P2). Untracking takes the wrapper out of its list.
  PyObject_GC_UnTrack(object);
  PyObject_GC_Track(object);
  // In this order: a thread that releases the last C++ reference from now on must see the bit.
  self->owned = false;
  impl->pyobj_slot()->set_owns_pyobj(true);
  trace("wrapper preserved", {"impl", impl}, {"wrapper", object});
  // If the other owner is gone by now, this hands the impl back, and may free the wrapper.
  raw::decref(impl);
  return true;
}

bool expire(Wrapper* self) noexcept {
  if (self->hermetic) return true;
  if (!raw::release_if_unique(self->impl)) return false;
  impl::PyObjectSlot* slot = self->impl->pyobj_slot();
  SLOTCORE_CHECK(slot->unchecked_pyobj() == reinterpret_cast<PyObject*>(self));
  slot->clear_pyobj();
  trace("slot cleared", {"impl", self->impl}, {"wrapper", self});
  return true;
}

bool take_over(Wrapper* self) noexcept {
  if (self->hermetic || self->owned || self->impl == nullptr) return false;
  raw::incref(self->impl);
  reuse(reinterpret_cast<PyObject*>(self), self->impl);
  return true;
}

bool holds_wrapper(intrusive_ptr_target* impl) noexcept {
  return impl->pyobj_slot()->owns_pyobj();
}

bool is_hidden(Wrapper* self) noexcept {
  // If the impl has a C++ owner, the wrapper will be preserved whatever the collector finds. So
  // everything that it refers to, its class included, must count as reachable (P2). In state B the
  // slot's reference ensures that; only the sole owner of the impl visits that reference.
  return is_shared(self);
}

bool refuses_clear(const Wrapper* self) noexcept { return is_shared(self); }

bool owns_for(Wrapper* self, visitproc visit) noexcept {
  if (!has_reachable_impl(self) || self->dying || !self->owned) return false;
  if (collector::is_subtracting(visit)) self->sole_owner = raw::use_count(self->impl) == 1;
  return self->sole_owner;
}

bool is_sole_owned(intrusive_ptr_target* target, uint32_t owners) noexcept {
  return raw::use_count(target) == owners;
}

bool visit_sole_owned(const Interpreter* interpreter, intrusive_ptr_target* target, uint32_t owners,
                      visitproc visit, void* arg, int* stop) noexcept {
  *stop = 0;
  if (collector::is_subtracting(visit) && !is_sole_owned(target, owners)) return false;
  impl::PyObjectSlot* slot = target->pyobj_slot();
  PyObject* object = slot->unchecked_pyobj();
  if (object == nullptr) return true;
  if (!slot->owns_pyobj() || slot->pyobj_interpreter() != interpreter->tag()) return false;
  *stop = visit(object, arg);
  return Py_REFCNT(object) == 1;
}

bool keeps_impl_after_the_end() noexcept { return true; }

}  // namespace slotcore::python::preserve
