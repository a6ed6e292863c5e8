// The Python object of an impl, and the protocol that keeps it alive, as an interface. What is
// behind it is the resurrection protocol of PyTorch 1.9 to 2.9 (preserve.cc), written once for all
// kinds of impls.
#pragma once

#include <Python.h>

#include "core/c10/intrusive_ptr.h"
#include "core/python/interpreter.h"

namespace slotcore::python {

struct Wrapper {
  PyObject_HEAD
  // Null before the impl is set and after it is gone. See Note [Owner of the wrapper] for `owned`.
  intrusive_ptr_target* impl;
  Interpreter* interpreter;  // never freed
  bool owned;                // this wrapper has a strong reference of impl
  bool hermetic;             // made in hermetic mode: the slot knows nothing of it (H1, H3)
  bool dying;                // impl has expired, only the remains have to be freed
};

inline Wrapper* as_wrapper(PyObject* object) noexcept {
  return reinterpret_cast<Wrapper*>(object);
}

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

// If someone else owns the impl too, makes the impl the owner of the wrapper (A -> B), with one
// reference for the slot, and says true. To be called when no reference to the wrapper is left.
bool try_preserve(Wrapper* self) noexcept;

// Makes the wrapper the owner of the impl again if it is not (B -> A). The wrapper's reference
// from the slot becomes the caller's. Says whether it did.
bool take_over(Wrapper* self) noexcept;

// For tp_dealloc, tp_traverse and tp_clear of the classes. `own` is the very function that sits in
// the type and calls this one: where the type has another, CPython's has been here already.
void dealloc(PyObject* self) noexcept;
int traverse(PyObject* self, traverseproc own, visitproc visit, void* arg) noexcept;
int clear(PyObject* self) noexcept;

// Whether the wrapper has the only strong reference of the impl, so that what the impl owns is
// owned by Python alone (P5).
bool is_sole_owner(const Wrapper* self) noexcept;

// For the same purpose one step further: if the caller's reference to `target` is the only one,
// visits the wrapper that the target owns, and sets `wrapped` to whether there is one.
int visit_sole_owned(const Interpreter* interpreter, intrusive_ptr_target* target, bool* wrapped,
                     visitproc visit, void* arg) noexcept;

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

[[noreturn]] void throw_no_impl(PyObject* self);

template <class T>
T* impl_of(PyObject* self) {
  intrusive_ptr_target* impl = as_wrapper(self)->impl;
  if (impl == nullptr) [[unlikely]] throw_no_impl(self);
  return static_cast<T*>(impl);
}

}  // namespace slotcore::python
