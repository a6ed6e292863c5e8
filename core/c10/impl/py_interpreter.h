// PyInterpreter: the tag that names the Python interpreter of an impl's wrapper, and the only
// connection from this layer to Python. This layer does not include Python.h; it calls an
// interpreter through PyInterpreterVTable.
//
// Note [A PyInterpreter is never freed]
// An impl may outlive the interpreter that wrapped it, and its destructor reads the tag (T5). So
// every PyInterpreter and every vtable is leaked on purpose. An interpreter that ends calls
// disarm(), which stores a vtable whose operations do nothing. That vtable is constant-initialised
// and trivially destroyed, so that static destructors may still call it.
#pragma once

#include "core/c10/impl/protocol/vtable_word.h"

struct _object;
using PyObject = _object;

namespace slotcore {

class intrusive_ptr_target;

namespace impl {

class PyObjectSlot;

// The result of offering a strong reference to a wrapper; Note [Handing over] in resurrection.cc.
enum class HandOver {
  kDone,      // the wrapper took the reference and released the slot's reference to it
  kNotOwned,  // the impl no longer owns a wrapper: read the count again
  kDeferred,  // a thread that has the GIL keeps it and will offer it again
  kDisarmed,  // the interpreter has ended, nothing was done (T6)
};

class PyInterpreterVTable {
 public:
  virtual const char* name() const noexcept = 0;
  virtual void incref(PyObject* object) const noexcept = 0;
  // Takes the GIL if the thread does not hold it. Leaks the object when the interpreter is ending
  // (T6). False when it has ended: then no Python code will touch the object again.
  virtual bool decref(PyObject* object) const noexcept = 0;
  // Takes a reference to the slot's wrapper; false when it has no wrapper or a dying one.
  virtual bool try_incref(const PyObjectSlot* slot) const noexcept = 0;
  // Offers the caller's strong reference of `target` to the wrapper that its slot owns. For the
  // resurrection protocol only.
  virtual HandOver hand_over(intrusive_ptr_target* target, PyObjectSlot* slot) const noexcept = 0;

 protected:
  // Never deleted through the interface; trivial, so that no_op_vtable needs no destructor.
  ~PyInterpreterVTable() = default;
};

class PyInterpreter {
 public:
  explicit PyInterpreter(const PyInterpreterVTable* vtable) noexcept : vtable_(vtable) {}
  PyInterpreter(const PyInterpreter&) = delete;
  PyInterpreter& operator=(const PyInterpreter&) = delete;

  const PyInterpreterVTable* operator->() const noexcept { return vtable_.load(); }

  // From here on every operation does nothing (T5). Any of them may run at the same time.
  void disarm() noexcept;
  bool is_armed() const noexcept;

 private:
  protocol::VTableWord<protocol::StdPolicy, const PyInterpreterVTable> vtable_;
};

}  // namespace impl
}  // namespace slotcore
