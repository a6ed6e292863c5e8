// PyInterpreter: the tag by which an impl knows which Python interpreter its wrapper belongs to,
// and the only door from this layer to Python. Nothing below core/python includes Python.h; what
// it needs from an interpreter goes through PyInterpreterVTable.
//
// Note [A PyInterpreter is never freed]
// An impl may outlive the interpreter that wrapped it, and its destructor reads the tag (T5).
// So a PyInterpreter is leaked on purpose, as is every vtable, and an interpreter that ends calls
// disarm(), which swaps in a vtable whose operations do nothing. That vtable is constant-
// initialised and trivially destroyed, so that static destructors may still call it.
#pragma once

#include "core/c10/impl/protocol/vtable_word.h"

struct _object;
using PyObject = _object;

namespace slotcore {

class intrusive_ptr_target;

namespace impl {

class PyObjectSlot;

// What became of a reference offered to a wrapper; see Note [Handing over] in resurrection.cc.
enum class HandOver {
  kDone,      // the wrapper took the reference and the slot's reference to it was dropped
  kNotOwned,  // the impl no longer owns a wrapper: look at the count again
  kDeferred,  // a thread that has the GIL will offer it again, and keeps it until then
  kDisarmed,  // the interpreter is gone, nothing was done (T6)
};

class PyInterpreterVTable {
 public:
  virtual const char* name() const noexcept = 0;
  virtual void incref(PyObject* object) const noexcept = 0;
  // Takes the GIL if the thread does not hold it; leaks when the interpreter is ending (T6). False
  // when it has ended: no Python code will ever touch the object again.
  virtual bool decref(PyObject* object) const noexcept = 0;
  // A reference of the slot's wrapper, or false when there is none or it is dying.
  virtual bool try_incref(const PyObjectSlot* slot) const noexcept = 0;
  // Offers the caller's strong reference of `target` to the wrapper that its slot owns. For the
  // resurrection protocol only.
  virtual HandOver hand_over(intrusive_ptr_target* target, PyObjectSlot* slot) const noexcept = 0;

 protected:
  // Never deleted through the interface, and trivial so that no_op_vtable needs no destructor.
  ~PyInterpreterVTable() = default;
};

class PyInterpreter {
 public:
  explicit PyInterpreter(const PyInterpreterVTable* vtable) noexcept : vtable_(vtable) {}
  PyInterpreter(const PyInterpreter&) = delete;
  PyInterpreter& operator=(const PyInterpreter&) = delete;

  const PyInterpreterVTable* operator->() const noexcept { return vtable_.load(); }

  // From here on every operation is a no-op (T5). May run at the same time as any of them.
  void disarm() noexcept;
  bool is_armed() const noexcept;

 private:
  protocol::VTableWord<protocol::StdPolicy, const PyInterpreterVTable> vtable_;
};

}  // namespace impl
}  // namespace slotcore
