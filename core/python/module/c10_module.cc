// The module slotcore_c10: value classes of the C++ core for tests and experiments in Python. It
// is separate from slotcore because pybind11 keeps process-wide state, which sub-interpreters
// must not share.

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "core/c10/impl/hermetic_py_object_tls.h"
#include "core/c10/impl/py_object_slot.h"
#include "core/c10/intrusive_ptr.h"
#include "core/c10/live_counts.h"
#include "core/c10/trace.h"
#include "core/python/module/c10_owner.h"

namespace py = pybind11;

namespace slotcore {
namespace {

using impl::PyInterpreterStatus;

// An interpreter that has a name and no objects.
class NamedVTable final : public impl::PyInterpreterVTable {
 public:
  explicit NamedVTable(std::string name) : name_(std::move(name)) {}
  const char* name() const noexcept override { return name_.c_str(); }
  void incref(PyObject*) const noexcept override {}
  bool decref(PyObject*) const noexcept override { return false; }
  bool try_incref(const impl::PyObjectSlot*) const noexcept override { return false; }
  impl::HandOver hand_over(intrusive_ptr_target*, impl::PyObjectSlot*) const noexcept override {
    return impl::HandOver::kDisarmed;
  }

 private:
  std::string name_;
};

// Refers to a PyInterpreter that is leaked, as every PyInterpreter is (T5).
class InterpreterHandle {
 public:
  explicit InterpreterHandle(std::string name)
      : interpreter_(new impl::PyInterpreter(new NamedVTable(std::move(name)))) {}
  std::string name() const { return (*interpreter_)->name(); }
  void disarm() { interpreter_->disarm(); }
  bool is_armed() const { return interpreter_->is_armed(); }
  impl::PyInterpreter* get() const { return interpreter_; }

 private:
  impl::PyInterpreter* interpreter_;
};

// A slot and the objects that are stored in it; the slot itself only borrows them.
class SlotHandle {
 public:
  void init(const InterpreterHandle& interpreter, py::object object, PyInterpreterStatus status) {
    slot_->init_pyobj(interpreter.get(), object.ptr(), status);
    object_ = std::move(object);
  }
  py::object check(const InterpreterHandle& interpreter) const {
    auto found = slot_->check_pyobj(interpreter.get());
    return found.value_or(nullptr) == nullptr ? py::none() : object_;
  }
  bool tagged() const { return slot_->pyobj_interpreter() != nullptr; }
  bool owns() const { return slot_->owns_pyobj(); }
  void set_owns(bool owns) {
    if (owns && slot_->unchecked_pyobj() == nullptr)
      throw std::runtime_error("an empty slot owns nothing");
    slot_->set_owns_pyobj(owns);
  }
  void clear() {
    slot_->clear_pyobj();
    object_ = py::none();
  }

 private:
  std::unique_ptr<impl::PyObjectSlot> slot_ = std::make_unique<impl::PyObjectSlot>();
  py::object object_ = py::none();
};

// HermeticGuard as a context manager.
class HermeticContext {
 public:
  void enter() {
    // A second guard would be made before the first is destroyed, and that would end the mode.
    if (guard_ != nullptr) throw std::runtime_error("this HermeticGuard has been entered already");
    guard_ = std::make_unique<impl::HermeticGuard>();
  }
  void exit(const py::args&) { guard_.reset(); }

 private:
  std::unique_ptr<impl::HermeticGuard> guard_;
};

void bind_interpreter(py::module_& module) {
  py::enum_<PyInterpreterStatus>(module, "PyInterpreterStatus",
                                 "What a caller knows about the tag of a slot (T3).")
      .value("DEFINITELY_UNINITIALIZED", PyInterpreterStatus::DEFINITELY_UNINITIALIZED)
      .value("MAYBE_UNINITIALIZED", PyInterpreterStatus::MAYBE_UNINITIALIZED)
      .value("TAGGED_BY_US", PyInterpreterStatus::TAGGED_BY_US)
      .value("TAGGED_BY_OTHER", PyInterpreterStatus::TAGGED_BY_OTHER);
  py::class_<InterpreterHandle>(module, "PyInterpreter", "A tag with a name and no objects.")
      .def(py::init<std::string>(), py::arg("name"))
      .def("name", &InterpreterHandle::name, "The name, or that of the no-op vtable.")
      .def("disarm", &InterpreterHandle::disarm, "Makes every operation a no-op, for ever (T5).")
      .def("is_armed", &InterpreterHandle::is_armed, "Whether disarm() has not been called.");
}

void bind_slot(py::module_& module) {
  py::class_<SlotHandle>(module, "PyObjectSlot", "The tag and the wrapper pointer of an impl.")
      .def(py::init<>())
      .def("init", &SlotHandle::init, py::arg("interpreter"), py::arg("object"), py::arg("status"),
           "Claims the slot and stores the object. RuntimeError if it is another interpreter's.")
      .def("check", &SlotHandle::check, py::arg("interpreter"),
           "The object, or None. RuntimeError if the slot is another interpreter's.")
      .def("tagged", &SlotHandle::tagged, "Whether an interpreter has claimed the slot.")
      .def("owns", &SlotHandle::owns, "Whether the impl owns the object.")
      .def("set_owns", &SlotHandle::set_owns, py::arg("owns"), "Sets the owns bit.")
      .def("clear", &SlotHandle::clear, "Removes the object; the tag stays (T1).");
}

void bind_owner(py::module_& module) {
  py::class_<OwnerHandle>(module, "Owner", "A strong C++ reference of an impl (T6).")
      .def(py::init<uintptr_t>(), py::arg("handle"),
           "Locks a handle of _weak_ref(). RuntimeError when the impl is gone.")
      .def("use_count", &OwnerHandle::use_count, "References of the impl, or 0 after a drop.")
      .def("drop", &OwnerHandle::drop, "Releases on this thread, without the GIL.")
      .def("drop_on_thread", &OwnerHandle::drop_on_thread,
           "Releases on a new thread that has never run Python, and waits for it.")
      .def("drop_under_lock", &OwnerHandle::drop_under_lock,
           "Releases on a new thread under a lock that this thread waits for with the GIL (T6).")
      .def("drop_at_exit", &OwnerHandle::drop_at_exit,
           "Releases when the process ends, after the Python interpreter has ended.")
      .def("start_copying", &OwnerHandle::start_copying,
           "Starts a C++ thread that makes and drops further owners until join().")
      .def("start_locking", &OwnerHandle::start_locking,
           "Starts a C++ thread that takes this owner, releases and locks again until join().")
      .def("lock_until_exit", &OwnerHandle::lock_until_exit,
           "The same until the process ends, after the Python interpreter has ended.")
      .def("join", &OwnerHandle::join,
           "Ends the thread, if there is one, and takes back its owner.")
      .def_property_readonly("_cdata", &OwnerHandle::address,
                             "The impl's address, or 0 without an owner.");
}

}  // namespace
}  // namespace slotcore

PYBIND11_MODULE(slotcore_c10, module) {
  using namespace slotcore;
  module.doc() = "Value classes of the storage and tensor core.";
  bind_interpreter(module);
  bind_slot(module);
  bind_owner(module);
  py::class_<impl::HermeticPyObjectTLS>(module, "HermeticPyObjectTLS", "The thread's flag.")
      .def_static("get_state", &impl::HermeticPyObjectTLS::get_state, "Whether it is set.");
  py::class_<HermeticContext>(module, "HermeticGuard", "Sets the flag inside of a with block (H4).")
      .def(py::init<>())
      .def("__enter__", &HermeticContext::enter)
      .def("__exit__", &HermeticContext::exit);
  module.def("set_trace", &set_trace, py::arg("on"), "Switches the trace points on or off.");
  module.def("trace_is_on", &trace_is_on, "Whether trace points print.");
  module.def(
      "live_storages", [] { return live_storages.value(); }, "Storages that exist.");
  module.def(
      "live_tensors", [] { return live_tensors.value(); }, "Tensors that exist.");
}
