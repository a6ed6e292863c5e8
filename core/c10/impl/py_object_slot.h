// PyObjectSlot: the two words of an impl that lead to its wrapper.
//
//   tag      none ──claim, once──▶ one PyInterpreter, for ever (T1)
//   pyobj    wrapper pointer, with the owns bit in bit 0
//
// Note [Owner of the wrapper]
// Under the resurrection protocol an impl is in one of three states; the owns bit separates A from
// B. For the other protocol see Note [The wrapper's bit].
//   N  no wrapper            pyobj == null
//   A  wrapper owns impl     wrapper ──strong──▶ impl,  slot ──borrowed──▶ wrapper,  bit clear
//   B  impl owns wrapper     slot ──strong──▶ wrapper,  wrapper ──borrowed──▶ impl,  bit set
// The slot never holds the address of a freed wrapper (H2): a dying wrapper clears the slot before
// anything that could run Python code.
//
// Note [Who may touch the PyObject field]
// Threads write it only under the GIL of the tagged interpreter (T4). They read it under that GIL
// too, with two exceptions. Resurrection: the thread that releases the last strong reference reads
// the owns bit to decide whether to take the GIL, and reads it again under the GIL. Refcount-bit: a
// thread that takes or releases the impl's reference to the wrapper reads the pointer, which does
// not change at that time.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "core/c10/impl/protocol/slot.h"
#include "core/c10/impl/py_interpreter.h"

namespace slotcore::impl {

// The slot belongs to another interpreter. The message names both.
class ForeignInterpreterError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class PyObjectSlot {
 public:
  PyObjectSlot() noexcept = default;
  PyObjectSlot(const PyObjectSlot&) = delete;
  PyObjectSlot& operator=(const PyObjectSlot&) = delete;

  // The tag, or null. Any thread may call this.
  PyInterpreter* pyobj_interpreter() const noexcept { return tag_.load(); }

  // The status that `self` passes to claim(). `unshared` says that the caller has the only
  // reference to the impl, weak ones included, so that no other thread can claim it (T3).
  PyInterpreterStatus status(const PyInterpreter* self, bool unshared) const noexcept {
    return tag_.status(self, unshared);
  }

  // Tags the slot. If several interpreters try at once, one wins (T2). The others, and all later
  // ones, get a ForeignInterpreterError.
  void claim(PyInterpreter* self, PyInterpreterStatus status);

  // Claims, and stores the wrapper with the owns bit clear (state A).
  void init_pyobj(PyInterpreter* self, PyObject* pyobj, PyInterpreterStatus status) {
    claim(self, status);
    set_pyobj(pyobj);
  }

  // The wrapper; null after its death; nullopt when no interpreter has claimed the slot. Throws
  // ForeignInterpreterError.
  std::optional<PyObject*> check_pyobj(const PyInterpreter* self) const {
    const PyInterpreter* tag = pyobj_interpreter();
    if (tag == nullptr) return std::nullopt;
    if (tag != self) [[unlikely]]
      throw_foreign(self, tag);
    return unchecked_pyobj();
  }

  PyObject* unchecked_pyobj() const noexcept {
    return reinterpret_cast<PyObject*>(word_.pointer());
  }
  bool owns_pyobj() const noexcept { return word_.owns(); }

  // The three writers; each needs the GIL of the tagged interpreter (T4).
  void set_pyobj(PyObject* pyobj) noexcept { word_.set(reinterpret_cast<uintptr_t>(pyobj)); }
  void set_owns_pyobj(bool owns) noexcept { word_.set_owns(owns); }
  void clear_pyobj() noexcept { word_.set(0); }

 private:
  [[noreturn]] static void throw_foreign(const PyInterpreter* self, const PyInterpreter* tag);

  protocol::Tag<protocol::StdPolicy, PyInterpreter> tag_;
  protocol::PyObjectWord<protocol::StdPolicy> word_;
};

static_assert(sizeof(PyObjectSlot) == 16, "every impl pays for its slot: a tag and a pointer");

}  // namespace slotcore::impl
