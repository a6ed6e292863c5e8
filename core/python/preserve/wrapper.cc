// Code that both protocols of preservation.h share: creation and deallocation of wrappers.
//
// Note [Order of a deallocation]
//   1 preserve, if a C++ owner exists. Never reads the hermetic flag of the thread (H2).
//   2 the finalizer, once (P3). If it resurrects the wrapper, the wrapper is still intact.
//   3 preserve, if the finalizer made a C++ owner.
//   4 the impl expires and the slot is cleared, before any more user code can run. If another
//     thread locks a weak reference first, this fails, and the wrapper is preserved.
//   5 weak references are cleared and their callbacks run. They reach neither wrapper nor impl.
//   6 `__slots__` and `__dict__`, 7 the impl and what it owns, 8 the memory.

#include "core/python/preserve/wrapper.h"

#include "core/c10/check.h"
#include "core/c10/impl/hermetic_py_object_tls.h"
#include "core/c10/trace.h"
#include "core/python/runtime/collector.h"
#include "core/python/preserve/instance.h"
#include "core/python/preserve/preservation.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

void throw_no_impl(PyObject* self) {
  throw_python(PyExc_RuntimeError,
               "this %s object has not been initialized, is being destroyed, or outlives its"
               " interpreter",
               Py_TYPE(self)->tp_name);
}

namespace preserve {
namespace {

PyObject* allocate(Interpreter* interpreter, PyTypeObject* type) noexcept {
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  interpreter->live_wrappers++;
  as_wrapper(object)->interpreter = interpreter;
  return object;
}

PyObject* create(Interpreter* interpreter, PyTypeObject* type, intrusive_ptr_target* target) {
  bool hermetic = impl::HermeticPyObjectTLS::get_state();
  impl::PyObjectSlot* slot = target->pyobj_slot();
  if (!hermetic) {
    // Claim first: the claim may throw, and then there is nothing to undo (T2).
    auto status = slot->status(interpreter->tag(), raw::is_unescaped(target));
    slot->claim(interpreter->tag(), status);
    if (status != impl::PyInterpreterStatus::TAGGED_BY_US)
      trace("tag claimed", {"impl", target}, {"interpreter", interpreter->tag()});
  }
  PyObject* object = allocate(interpreter, type);
  if (object == nullptr) return nullptr;
  if (!hermetic) {
    // The allocation may have run the collector, and so user code that wrapped the same impl (P1).
    if (PyObject* earlier = slot->unchecked_pyobj(); earlier != nullptr) {
      PyRef::steal(object);
      return reuse(earlier, target);
    }
    slot->set_pyobj(object);
    trace("slot written", {"impl", target}, {"wrapper", object});
  }
  Wrapper* wrapper = as_wrapper(object);
  wrapper->impl = target;
  wrapper->owned = true;
  wrapper->hermetic = hermetic;
  if (!hermetic) adopt(object, target);
  trace("wrapper created", {"impl", target}, {"wrapper", object},
        hermetic ? TraceField("", "(hermetic)") : TraceField("type", type->tp_name));
  return object;
}

// Step 2. True when the finalizer has resurrected the object.
bool finalize(PyObject* self) noexcept {
  if (Py_TYPE(self)->tp_finalize == nullptr) return false;
  ReleaseBoundary boundary;
  return unless_killed([&] { return PyObject_CallFinalizerFromDealloc(self); }) < 0;
}

// Step 7. A hermetic wrapper only releases its reference (H3).
void drop_impl(Wrapper* self) noexcept {
  intrusive_ptr_target* impl = std::exchange(self->impl, nullptr);
  if (impl == nullptr) return;
  if (self->hermetic) return raw::decref(impl);
  raw::destroy_expired(impl);
}

// For the trace: whether the slot of a living impl still holds the address of a freed wrapper.
void trace_freed(const Wrapper* self, intrusive_ptr_target* impl) noexcept {
  const auto* object = reinterpret_cast<const PyObject*>(self);
  bool readable = impl != nullptr && raw::use_count(impl) > (self->owned ? 1 : 0);
  if (readable && impl->pyobj_slot()->unchecked_pyobj() == object) {
    trace("wrapper freed", {"wrapper", object}, {"slot of", impl, " still holds it"});
  } else {
    trace("wrapper freed", {"wrapper", object});
  }
}

// Steps 5 to 8. Only the caller still refers to the object.
void tear_down(PyObject* self) noexcept {
  PyTypeObject* type = Py_TYPE(self);
  Wrapper* wrapper = as_wrapper(self);
  // A chain through `__dict__` would recurse: past some depth CPython defers the object and calls
  // tp_dealloc again later, which comes straight here because `dying` is set.
  Py_TRASHCAN_BEGIN(self, type->tp_dealloc) {
    ReleaseBoundary boundary;
    clear_instance(self);
  }
  if (trace_is_on()) [[unlikely]]
    trace_freed(wrapper, wrapper->impl);
  wrapper->interpreter->live_wrappers--;
  drop_impl(wrapper);
  type->tp_free(self);
  Py_DECREF(type);
  Py_TRASHCAN_END
}

}  // namespace

PyObject* wrap(Interpreter* interpreter, PyTypeObject* type, intrusive_ptr_target* target) {
  interpreter->run_deferred();
  if (impl::HermeticPyObjectTLS::get_state()) return create(interpreter, type, target);
  PyObject* existing = target->pyobj_slot()->check_pyobj(interpreter->tag()).value_or(nullptr);
  trace("slot read", {"impl", target}, {"wrapper", existing});
  return existing != nullptr ? reuse(existing, target) : create(interpreter, type, target);
}

PyObject* construct(Interpreter* interpreter, PyTypeObject* type, intrusive_ptr_target* target) {
  interpreter->run_deferred();
  return create(interpreter, type, target);
}

void dealloc(PyObject* self) noexcept {
  Wrapper* wrapper = as_wrapper(self);
  PendingException pending;
  if (wrapper->dying) return tear_down(self);
  if (wrapper->impl != nullptr) {
    if (try_preserve(wrapper)) return;
    if (finalize(self) || try_preserve(wrapper)) return;
    SLOTCORE_CHECK(wrapper->owned);
    trace("not preserved", {"wrapper", self},
          wrapper->hermetic ? TraceField("", "(hermetic)") : TraceField("impl", wrapper->impl));
    while (!expire(wrapper)) {
      if (try_preserve(wrapper)) return;
    }
  }
  wrapper->dying = true;
  PyObject_GC_UnTrack(self);
  {
    ReleaseBoundary boundary;
    clear_weak_references(self);
  }
  tear_down(self);
}

int traverse(PyObject* self, traverseproc own, visitproc visit, void* arg) noexcept {
  Wrapper* wrapper = as_wrapper(self);
  // This class is being made by another metaclass: CPython's traverse visits the rest itself.
  if (Py_TYPE(self)->tp_traverse != own) {
    Py_VISIT(Py_TYPE(self));
    return 0;
  }
  if (collector::is_subtracting(visit) && is_hidden(wrapper)) return 0;
  Py_VISIT(Py_TYPE(self));
  return visit_instance(self, visit, arg);
}

namespace {

bool may_clear(const Wrapper* self) noexcept {
  bool refuses = refuses_clear(self);
  trace(refuses ? "clear refused" : "cleared", {"wrapper", self});
  return !refuses;
}

}  // namespace

int clear(PyObject* self) noexcept {
  // Never resurrects: the caller, the collector, holds references that it has counted.
  if (!may_clear(as_wrapper(self))) return 0;
  ReleaseBoundary boundary;
  clear_instance(self);
  return 0;
}

int clear_through_impl(PyObject* self) noexcept {
  Wrapper* wrapper = as_wrapper(self);
  if (!may_clear(wrapper)) return 0;
  ReleaseBoundary boundary;
  clear_instance(self);
  bool owns = has_reachable_impl(wrapper) && !wrapper->dying && wrapper->owned;
  if (!owns || !wrapper->sole_owner || raw::use_count(wrapper->impl) != 1) return 0;
  // Beside a hermetic wrapper the impl may keep another one, whose finalizer has not run yet.
  PyObject* other = wrapper->impl->pyobj_slot()->unchecked_pyobj();
  if (other == nullptr || other == self) raw::release_owned(wrapper->impl);
  return 0;
}

}  // namespace preserve
}  // namespace slotcore::python
