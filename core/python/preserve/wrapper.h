// The Python object of an impl, for all kinds of impls. One of two protocols keeps it alive; see
// preservation.h.
#pragma once

#include <Python.h>

#include "core/c10/intrusive_ptr.h"
#include "core/python/preserve/interpreter.h"

namespace slotcore::python {

struct Wrapper {
  PyObject_HEAD
  // Null before the impl is set and after it is gone. See Note [Owner of the wrapper] for `owned`.
  intrusive_ptr_target* impl;
  Interpreter* interpreter;  // never freed
  // For the refcount-bit protocol: use_count of impl at the collector's last visit.
  uint32_t owners_traversed;
  bool owned;       // this wrapper has a strong reference to impl
  bool hermetic;    // made in hermetic mode: the slot does not refer to it (H1, H3)
  bool dying;       // impl has expired, only the rest of the object must be freed
  bool sole_owner;  // had the only strong reference to impl in the collector's first pass
  uint64_t walk;    // the number of its latest walk in such a pass: Note [What a walk follows]
};

inline Wrapper* as_wrapper(PyObject* object) noexcept { return reinterpret_cast<Wrapper*>(object); }

// The impl of a wrapper of the right kind. Throws PythonErrorSet for a wrapper without an impl.
template <class T>
T* impl_of(PyObject* self);

namespace preserve {

// The protocol's name, as in docs/contract.md.
extern const char* const kProtocol;

// The wrapper of `target`: the existing one, or a new one of class `type` (P1, H1). Returns a new
// reference and takes the caller's strong reference, or returns null with a Python error set.
// Throws ForeignInterpreterError (T2).
PyObject* wrap(Interpreter* interpreter, PyTypeObject* type, intrusive_ptr_target* target);

// A wrapper of class `type`, which may be a subclass, for a target that never had a wrapper and
// that only the caller refers to. References and errors as for wrap().
PyObject* construct(Interpreter* interpreter, PyTypeObject* type, intrusive_ptr_target* target);

// Makes the wrapper the owner of the impl again if it is not (B -> A). The slot's reference to the
// wrapper becomes the caller's. Returns whether it did.
bool take_over(Wrapper* self) noexcept;

// Whether the impl, whose slot has a wrapper, owns a reference to it. Reads nothing of the wrapper.
bool holds_wrapper(intrusive_ptr_target* impl) noexcept;

// For tp_dealloc, tp_traverse and tp_clear of the classes. `own` is the function in the type that
// calls this one: if the type has another, CPython's function has visited the instance already.
void dealloc(PyObject* self) noexcept;
int traverse(PyObject* self, traverseproc own, visitproc visit, void* arg) noexcept;
int clear(PyObject* self) noexcept;
// The tp_clear of a class whose impls own others. It also releases those that the wrapper has
// reported: there may be no other object in the cycle that can be cleared, as when a pack hook
// returns its tensor.
int clear_through_impl(PyObject* self) noexcept;

// Whether the wrapper visits what the impl owns: if in the collector's first pass the wrapper has
// the only strong reference to the impl, so that Python alone owns all of it (P5). Later passes get
// the same answer, see Note [Two passes of the collector].
bool owns_for(Wrapper* self, visitproc visit) noexcept;

// Whether `owners` strong references are all that a target has, besides its wrapper's.
bool is_sole_owned(intrusive_ptr_target* target, uint32_t owners) noexcept;

// The next step, for a target that the impl owns and of which Python alone owns `owners` strong
// references: visits the wrapper of the target, unless the target has other owners. After the first
// pass it ignores other owners. Returns whether the caller visits what the target owns: if the
// target has no wrapper, or only the target refers to its wrapper. A wrapper with other references
// keeps those objects alive too, and may be older than the generation that is collected. `stop`
// receives the result of `visit`, or 0.
bool visit_sole_owned(const Interpreter* interpreter, intrusive_ptr_target* target, uint32_t owners,
                      visitproc visit, void* arg, int* stop) noexcept;

}  // namespace preserve

// wrap() and construct() for an intrusive_ptr, which they leave unchanged when they fail.
template <class T>
PyObject* wrap(Interpreter* interpreter, PyTypeObject* type, intrusive_ptr<T>& target) {
  PyObject* object = preserve::wrap(interpreter, type, target.get());
  if (object != nullptr) (void)target.release();
  return object;
}
template <class T>
PyObject* construct(Interpreter* interpreter, PyTypeObject* type, intrusive_ptr<T> target) {
  PyObject* object = preserve::construct(interpreter, type, target.get());
  if (object != nullptr) (void)target.release();
  return object;
}

// Note [After the end]
// An interpreter is disarmed before its last collection, and Python code may run even later. From
// then on the last C++ owner destroys an impl whose wrapper still exists, on any thread (T6). So
// neither methods nor the collector touch impls any more. A wrapper that is being freed may: it has
// no reference from C++ owners left, so there are no such owners, and the impl is its own.
inline bool has_reachable_impl(const Wrapper* self) noexcept {
  return self->impl != nullptr && self->interpreter->tag()->is_armed();
}

[[noreturn]] void throw_no_impl(PyObject* self);

template <class T>
T* impl_of(PyObject* self) {
  if (!has_reachable_impl(as_wrapper(self))) [[unlikely]]
    throw_no_impl(self);
  return static_cast<T*>(as_wrapper(self)->impl);
}

}  // namespace slotcore::python
