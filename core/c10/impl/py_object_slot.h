// PyObjectSlot: the two words of an impl that lead to its wrapper.
//
//   tag      none ──claim, once──▶ one PyInterpreter, for ever (T1)
//   pyobj    wrapper pointer, with the owns bit in bit 0
//
// Note [Owner of the wrapper]
// An impl is in one of three states, and the owns bit says which of A and B:
//   N  no wrapper            pyobj == null
//   A  wrapper owns impl     wrapper ──strong──▶ impl,  slot ──borrowed──▶ wrapper,  bit clear
//   B  impl owns wrapper     slot ──strong──▶ wrapper,  wrapper ──borrowed──▶ impl,  bit set
// The slot never holds the address of a freed wrapper (H2): a wrapper that dies clears the slot
// before anything that could run Python code.
//
// Note [Who may touch the PyObject field]
// It is written only under the GIL of the tagged interpreter (T4). It is read under that GIL too,
// with one exception: the thread that drops the last strong reference reads the owns bit to decide
// whether to ask for the GIL at all. What it reads is confirmed under the GIL.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include "core/c10/impl/py_interpreter.h"

namespace slotcore::impl {

// What the caller, who holds the GIL of its interpreter, knows about the tag (T3).
enum class PyInterpreterStatus {
  DEFINITELY_UNINITIALIZED,  // the impl has not escaped this thread: a plain store is enough
  MAYBE_UNINITIALIZED,       // it looked empty, another interpreter may be claiming it now
  TAGGED_BY_US,              // ours: this thread is the only writer
  TAGGED_BY_OTHER,           // another interpreter's: refuse
};

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

  // The tag, or null. Any thread may ask.
  PyInterpreter* pyobj_interpreter() const noexcept {
    return interpreter_.load(std::memory_order_acquire);  // pairs with the claim
  }

  // What `self` would have to pass to claim(). `unshared` says that the caller has the only
  // reference of the impl, so that nobody else can be claiming it.
  PyInterpreterStatus status(const PyInterpreter* self, bool unshared) const noexcept {
    const PyInterpreter* tag = pyobj_interpreter();
    if (tag == self) return PyInterpreterStatus::TAGGED_BY_US;
    if (tag != nullptr) return PyInterpreterStatus::TAGGED_BY_OTHER;
    return unshared ? PyInterpreterStatus::DEFINITELY_UNINITIALIZED
                    : PyInterpreterStatus::MAYBE_UNINITIALIZED;
  }

  // Tags the slot. Of any number of interpreters that try at once, one wins (T2); the others, and
  // everyone later, get a ForeignInterpreterError.
  void claim(PyInterpreter* self, PyInterpreterStatus status);

  // Claims, and stores the wrapper with the owns bit clear (state A).
  void init_pyobj(PyInterpreter* self, PyObject* pyobj, PyInterpreterStatus status) {
    claim(self, status);
    set_pyobj(pyobj);
  }

  // The wrapper, which is null after its death; nullopt when the slot was never claimed.
  // Throws ForeignInterpreterError.
  std::optional<PyObject*> check_pyobj(const PyInterpreter* self) const {
    const PyInterpreter* tag = pyobj_interpreter();
    if (tag == nullptr) return std::nullopt;
    if (tag != self) [[unlikely]] throw_foreign(self, tag);
    return unchecked_pyobj();
  }

  PyObject* unchecked_pyobj() const noexcept {
    return reinterpret_cast<PyObject*>(load() & ~kOwnsBit);
  }
  bool owns_pyobj() const noexcept { return (load() & kOwnsBit) != 0; }

  // The three writers; all need the GIL of the tagged interpreter (T4).
  void set_pyobj(PyObject* pyobj) noexcept;
  void set_owns_pyobj(bool owns) noexcept;
  void clear_pyobj() noexcept;

 private:
  static constexpr uintptr_t kOwnsBit = 1;

  [[noreturn]] static void throw_foreign(const PyInterpreter* self, const PyInterpreter* tag);

  // Relaxed is enough. Under the GIL the GIL orders; the dropper of the last reference has
  // acquired the strong count, which whoever set the bit released afterwards (it set the bit
  // before it dropped its own reference).
  uintptr_t load() const noexcept { return pyobj_.load(std::memory_order_relaxed); }
  void store(uintptr_t bits) noexcept { pyobj_.store(bits, std::memory_order_relaxed); }

  std::atomic<PyInterpreter*> interpreter_{nullptr};
  std::atomic<uintptr_t> pyobj_{0};
};

static_assert(sizeof(PyObjectSlot) == 16, "every impl pays for its slot: a tag and a pointer");

}  // namespace slotcore::impl
