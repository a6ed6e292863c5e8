// How C++ code on any thread enters one Python interpreter, and how it is refused when that
// interpreter has ended (T5, T6).

#include "core/python/preserve/interpreter.h"

#include "core/c10/impl/preservation.h"
#include "core/c10/trace.h"
#include "core/python/runtime/gil.h"
#include "core/python/preserve/preservation.h"
#include "core/python/runtime/py_ref.h"
#include "core/python/preserve/wrapper.h"

namespace slotcore::python {
namespace {

constexpr const char* kCapsuleName = "slotcore.interpreter";

// Relaxed, all accesses: the number orders nothing.
constinit std::atomic<int64_t> references_left_behind{0};

bool is_finalizing() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

bool holds_gil(const Interpreter& interpreter) noexcept {
  PyThreadState* current = current_thread_state();
  return current != nullptr && current->interp == interpreter.state();
}

constexpr bool kOneGil = PY_VERSION_HEX < 0x030C0000;  // for all interpreters

// Whether this thread can enter without waiting for another thread.
bool enters_without_waiting(const Interpreter& interpreter) noexcept {
  return holds_gil(interpreter) || (kOneGil && current_thread_state() != nullptr);
}

// Holds the GIL of one interpreter during its lifetime, or reports that the interpreter is ending.
class GilScope {
 public:
  explicit GilScope(const Interpreter& interpreter) noexcept {
    // A thread that holds the GIL already may continue, also while the interpreter ends.
    if (holds_gil(interpreter)) {
      held_ = true;
      return;
    }
    former_ = current_thread_state();
    if (!Py_IsInitialized() || is_finalizing() || !interpreter.gate().enter()) return;
    gate_ = &interpreter.gate();
    held_ = true;
    const bool is_main = interpreter.state() == PyInterpreterState_Main();
    // If all interpreters share one GIL, take it before making a state in a sub-interpreter.
    // CPython 3.11 ends a sub-interpreter with its youngest state, even when another thread waits
    // for the GIL with that state.
    if (former_ == nullptr && (is_main || kOneGil)) {
      ensured_ = true;
      gil_ = PyGILState_Ensure();
      if (is_main) return;
      former_ = PyGILState_GetThisThreadState();
    }
    // Debug CPython requires one thread state for each thread and interpreter. The usual state
    // belongs to this interpreter when the thread went from here into a sub-interpreter.
    entered_ = PyGILState_GetThisThreadState();
    if (entered_ == nullptr || entered_->interp != interpreter.state()) {
      entered_ = own_ = PyThreadState_New(interpreter.state());
    }
    // A swap keeps a GIL that both interpreters share, so no other thread runs in between.
    if (former_ != nullptr) {
      PyThreadState_Swap(entered_);
    } else {
      PyEval_RestoreThread(entered_);
    }
  }

  ~GilScope() {
    if (own_ != nullptr) PyThreadState_Clear(own_);
    if (former_ != nullptr && entered_ != nullptr) {
      PyThreadState_Swap(former_);
      if (own_ != nullptr) PyThreadState_Delete(own_);
    } else if (own_ != nullptr) {
      PyThreadState_DeleteCurrent();
    } else if (entered_ != nullptr) {
      PyEval_SaveThread();
    }
    if (ensured_) PyGILState_Release(gil_);
    // After the thread state is deleted: an interpreter must not end with one of our states in it.
    if (gate_ != nullptr) gate_->leave();
  }
  GilScope(const GilScope&) = delete;
  GilScope& operator=(const GilScope&) = delete;

  bool held() const noexcept { return held_; }

 private:
  PyThreadState* former_ = nullptr;
  PyThreadState* entered_ = nullptr;
  PyThreadState* own_ = nullptr;  // entered_, if this object made it
  ShutdownGate* gate_ = nullptr;
  PyGILState_STATE gil_ = PyGILState_UNLOCKED;
  bool ensured_ = false;
  bool held_ = false;
};

void disarm(PyObject* capsule) {
  auto* interpreter = static_cast<Interpreter*>(PyCapsule_GetPointer(capsule, kCapsuleName));
  interpreter->tag()->disarm();
  if (!preserve::keeps_impl_after_the_end()) return;
  references_left_behind.fetch_add(interpreter->live_wrappers, std::memory_order_relaxed);
}

// Returns when no thread is inside. Gives the GIL up while it waits: those threads may need it.
void close(ShutdownGate& gate) noexcept {
  if (gate.close()) return;
  PyThreadState* state = PyEval_SaveThread();
  gate.wait_until_empty();
  PyEval_RestoreThread(state);
}

PyObject* close_gate(PyObject* capsule, PyObject*) {
  void* interpreter = PyCapsule_GetPointer(capsule, kCapsuleName);
  if (interpreter == nullptr) return nullptr;
  close(static_cast<Interpreter*>(interpreter)->gate());
  static_cast<Interpreter*>(interpreter)->run_deferred();
  Py_RETURN_NONE;
}

PyMethodDef close_gate_method = {"close_gate", &close_gate, METH_NOARGS,
                                 "close_gate(): see Note [The shutdown gate]."};

}  // namespace

Interpreter::Interpreter(PyInterpreterState* state)
    : tag_(this),
      state_(state),
      name_("slotcore interpreter " + std::to_string(PyInterpreterState_GetID(state))) {}

Interpreter* Interpreter::current() {
  PyInterpreterState* state = PyInterpreterState_Get();
  PyObject* dict = PyInterpreterState_GetDict(state);  // borrowed
  if (dict == nullptr) throw_python(PyExc_ImportError, "this Python interpreter has no dict");
  PyObject* known = PyDict_GetItemString(dict, kCapsuleName);  // borrowed
  if (known != nullptr) {
    auto* found = static_cast<Interpreter*>(PyCapsule_GetPointer(known, kCapsuleName));
    if (found == nullptr) throw PythonErrorSet{};
    return found;
  }
  auto* interpreter = new Interpreter(state);  // leaked on purpose (T5)
  PyRef capsule = PyRef::steal(checked(PyCapsule_New(interpreter, kCapsuleName, &disarm)));
  PyRef closing = PyRef::steal(checked(PyCFunction_New(&close_gate_method, capsule.get())));
  PyRef atexit = PyRef::steal(checked(PyImport_ImportModule("atexit")));
  PyRef::steal(checked(PyObject_CallMethod(atexit.get(), "register", "O", closing.get())));
  checked(PyDict_SetItemString(dict, kCapsuleName, capsule.get()));
  return interpreter;
}

void Interpreter::incref(PyObject* object) const noexcept {
  GilScope gil(*this);
  if (gil.held()) Py_INCREF(object);
}

bool Interpreter::decref(PyObject* object) const noexcept {
  const auto drop = [](void* argument) noexcept { Py_DECREF(static_cast<PyObject*>(argument)); };
  if (!run(drop, object)) references_left_behind.fetch_add(1, std::memory_order_relaxed);
  return true;
}

int64_t Interpreter::left_behind() noexcept {
  return references_left_behind.load(std::memory_order_relaxed);
}

bool Interpreter::try_incref(const impl::PyObjectSlot* slot) const noexcept {
  GilScope gil(*this);
  if (!gil.held()) return false;
  // A dying wrapper clears the slot; until then its count is 0, except in its finalizer.
  PyObject* object = slot->unchecked_pyobj();
  if (object == nullptr || Py_REFCNT(object) == 0) return false;
  Py_INCREF(object);
  return true;
}

bool Interpreter::run(DeferredCall::Body body, void* argument) const noexcept {
  if (!tag_.is_armed()) return false;
  if (state_ != PyInterpreterState_Main() || enters_without_waiting(*this)) {
    GilScope gil(*this);
    if (gil.held()) body(argument);
    return gil.held();
  }
  if (!Py_IsInitialized() || is_finalizing() || !gate_.enter()) return false;
  if (deferred_.add(DeferredCall{body, argument})) {
    // If CPython drops the pending call, the next wrap runs the work.
    add_pending_call_of_main(
        [](void* interpreter) {
          static_cast<const Interpreter*>(interpreter)->run_deferred();
          return 0;
        },
        const_cast<Interpreter*>(this));
  }
  gate_.leave();
  return true;
}

impl::HandOver Interpreter::hand_over(intrusive_ptr_target* target,
                                      impl::PyObjectSlot* slot) const noexcept {
  if (!holds_gil(*this)) {
    // The queue keeps the reference, so that the target waits too. The boundary: the reference must
    // be offered while this thread has the GIL, not when an enclosing release ends.
    auto submit = [](void* argument) noexcept {
      ReleaseBoundary boundary;
      impl::preservation::Access::submit(static_cast<intrusive_ptr_target*>(argument));
    };
    return run(submit, target) ? impl::HandOver::kDeferred : impl::HandOver::kDisarmed;
  }
  // Read again under the GIL: before, another thread may have locked a weak reference of the impl
  // and wrapped it, which takes the wrapper over.
  if (!slot->owns_pyobj()) return impl::HandOver::kNotOwned;
  PyObject* object = slot->unchecked_pyobj();
  slot->set_owns_pyobj(false);
  as_wrapper(object)->owned = true;
  trace("handed over", {"impl", target}, {"wrapper", object});
  Py_DECREF(object);
  return impl::HandOver::kDone;
}

}  // namespace slotcore::python
