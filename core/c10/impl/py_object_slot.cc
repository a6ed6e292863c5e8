// The claim of a slot by an interpreter, and the writes of the PyObject field.

#include "core/c10/impl/py_object_slot.h"

#include <string>

#include "core/c10/check.h"

namespace slotcore::impl {

void PyObjectSlot::claim(PyInterpreter* self, PyInterpreterStatus status) {
  SLOTCORE_CHECK(self != nullptr);
  switch (status) {
    case PyInterpreterStatus::TAGGED_BY_US:
      return;
    case PyInterpreterStatus::DEFINITELY_UNINITIALIZED:
      // Nobody else has the impl yet. Whoever gets it later gets it through something that
      // synchronises, and that publishes this store as well.
      interpreter_.store(self, std::memory_order_relaxed);
      break;
    case PyInterpreterStatus::MAYBE_UNINITIALIZED: {
      PyInterpreter* expected = nullptr;
      // Release publishes *self to the acquire in pyobj_interpreter; acquire on failure makes the
      // winner's PyInterpreter readable, because the error names it.
      bool won = interpreter_.compare_exchange_strong(
          expected, self, std::memory_order_acq_rel, std::memory_order_acquire);
      if (won) break;
      if (expected == self) return;
      throw_foreign(self, expected);
    }
    case PyInterpreterStatus::TAGGED_BY_OTHER:
      throw_foreign(self, pyobj_interpreter());
  }
}

void PyObjectSlot::throw_foreign(const PyInterpreter* self, const PyInterpreter* tag) {
  const char* owner = tag == nullptr ? "<none>" : (*tag)->name();
  throw ForeignInterpreterError(
      std::string("this object already belongs to the Python interpreter ") + owner +
      " and cannot get a Python object in the interpreter " + (*self)->name());
}

void PyObjectSlot::set_pyobj(PyObject* pyobj) noexcept {
  store(reinterpret_cast<uintptr_t>(pyobj));
}

void PyObjectSlot::set_owns_pyobj(bool owns) noexcept {
  uintptr_t pointer = load() & ~kOwnsBit;
  SLOTCORE_CHECK(pointer != 0 || !owns);
  store(pointer | (owns ? kOwnsBit : 0));
}

void PyObjectSlot::clear_pyobj() noexcept {
  store(0);
}

}  // namespace slotcore::impl
