// The Python object of an impl, for all kinds of impls. What keeps it alive is one of two
// protocols; see preservation.h.
#pragma once

#include <Python.h>

#include "core/c10/intrusive_ptr.h"
#include "core/python/preserve/interpreter.h"

namespace slotcore::python {

struct Wrapper {
  PyObject_HEAD
      // Null before the impl is set and after it is gone. See Note [Owner of the wrapper] for
      // `owned`.
          intrusive_ptr_target* impl;
  Interpreter* interpreter;  // never freed
  // For the refcount-bit protocol: use_count of impl when the collector looked last.
  uint32_t owners_traversed;
  bool owned;       // this wrapper has a strong reference of impl
  bool hermetic;    // made in hermetic mode: the slot knows nothing of it (H1, H3)
  bool dying;       // impl has expired, only the remains have to be freed
  bool sole_owner;  // had the only strong reference of impl in the collector's first pass
};

inline Wrapper* as_wrapper(PyObject* object) noexcept { return reinterpret_cast<Wrapper*>(object); }

// The impl of a wrapper of the right kind. Throws PythonErrorSet for one without.
template <class T>
T* impl_of(PyObject* self);

namespace preserve {

// The protocol's name, as docs/contract.md speaks of it.
extern const char* const kProtocol;

// The wrapper of `target`: the one that it has, or a new one of class `type` (P1, H1). A new
// reference, and then the strong reference of the caller has been taken; or null with a Python
// error. Throws ForeignInterpreterError (T2).
PyObject* wrap(Interpreter* interpreter, PyTypeObject* type, intrusive_ptr_target* target);

// A wrapper of class `type`, which may be a subclass, for a target that has never had one and that
// only the caller refers to. References and errors as for wrap().
PyObject* construct(Interpreter* interpreter, PyTypeObject* type, intrusive_ptr_target* target);

// Makes the wrapper the owner of the impl again if it is not (B -> A). The wrapper's reference
// from the slot becomes the caller's. Says whether it did.
bool take_over(Wrapper* self) noexcept;

// For tp_dealloc, tp_traverse and tp_clear of the classes. `own` is the very function that sits in
// the type and calls this one: where the type has another, CPython's has been here already.
void dealloc(PyObject* self) noexcept;
int traverse(PyObject* self, traverseproc own, visitproc visit, void* arg) noexcept;
int clear(PyObject* self) noexcept;

// Whether what the impl owns is to be visited through the wrapper: if in the collector's first pass
// it has the only strong reference of the impl, so that Python alone owns all of it (P5). Later
// passes get the same answer, see Note [Two passes of the collector].
bool owns_for(Wrapper* self, visitproc visit) noexcept;

// For the same purpose one step further: visits the wrapper of a target of which Python alone owns
// `owners` strong references, unless somebody else shares it. Says whether what the target owns is
// to be visited through those owners too: if it has no wrapper, or nothing but the target refers to
// that; a wrapper that Python reaches otherwise keeps those things alive as well, and may be older
// than what this collection looks at. After the first pass, sharing is not asked for.
// `stop` gets what `visit` returned, or 0.
bool visit_sole_owned(const Interpreter* interpreter, intrusive_ptr_target* target, uint32_t owners,
                      visitproc visit, void* arg, int* stop) noexcept;

}  // namespace preserve

// wrap() and construct() for an intrusive_ptr. It is left alone when they fail.
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
// then on the last C++ owner destroys an impl whose wrapper still exists, on whatever thread (T6).
// So neither methods nor the collector look at impls any more. A wrapper that is freed may: it has
// no reference of C++ owners left, hence there are none, and the impl is its own.
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
