// The vtable of an interpreter that has ended.

#include "core/c10/impl/py_interpreter.h"

#include "core/c10/trace.h"

namespace slotcore::impl {
namespace {

class NoOpVTable final : public PyInterpreterVTable {
 public:
  const char* name() const noexcept override { return "<interpreter that has ended>"; }
  void incref(PyObject*) const noexcept override {}
  bool decref(PyObject*) const noexcept override { return false; }
  bool try_incref(const PyObjectSlot*) const noexcept override { return false; }
  HandOver hand_over(intrusive_ptr_target*, PyObjectSlot*) const noexcept override {
    return HandOver::kDisarmed;
  }
};

// At namespace scope and constant: see Note [A PyInterpreter is never freed].
constexpr NoOpVTable kNoOpVTable;

}  // namespace

void PyInterpreter::disarm() noexcept {
  trace("interpreter disarmed", {"interpreter", this});
  vtable_.disarm(&kNoOpVTable);
}

bool PyInterpreter::is_armed() const noexcept { return vtable_.load() != &kNoOpVTable; }

}  // namespace slotcore::impl
