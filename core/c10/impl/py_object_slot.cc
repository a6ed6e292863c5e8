// The claim of a slot by an interpreter, and the error for an interpreter that loses.

#include "core/c10/impl/py_object_slot.h"

#include <string>

#include "core/c10/check.h"

namespace slotcore::impl {

void PyObjectSlot::claim(PyInterpreter* self, PyInterpreterStatus status) {
  SLOTCORE_CHECK(self != nullptr);
  if (PyInterpreter* owner = tag_.claim(self, status); owner != self) throw_foreign(self, owner);
}

void PyObjectSlot::throw_foreign(const PyInterpreter* self, const PyInterpreter* tag) {
  const char* owner = tag == nullptr ? "<none>" : (*tag)->name();
  throw ForeignInterpreterError(
      std::string("this object already belongs to the Python interpreter ") + owner +
      " and cannot get a Python object in the interpreter " + (*self)->name());
}

}  // namespace slotcore::impl
