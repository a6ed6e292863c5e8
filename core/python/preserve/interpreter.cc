// What C++ code on any thread asks of one Python interpreter, also when that has ended (T5, T6).

#include "core/python/preserve/interpreter.h"

#include "core/autograd/engine/device_threads.h"
#include "core/c10/impl/preservation.h"
#include "core/c10/trace.h"
#include "core/python/preserve/gil_scope.h"
#include "core/python/preserve/preservation.h"
#include "core/python/preserve/wrapper.h"
#include "core/python/runtime/gil.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {
namespace {

constexpr const char* kCapsuleName = "slotcore.interpreter";

// Relaxed, all accesses: the number orders nothing.
constinit std::atomic<int64_t> references_left_behind{0};

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

// The threads of the engine serve all interpreters, and end with the main one. Nodes that they run
// until then can no longer enter it.
void end_threads_with(const Interpreter& interpreter) noexcept {
  if (interpreter.state() != PyInterpreterState_Main()) return;
  PyThreadState* state = PyEval_SaveThread();
  autograd::end_device_threads();
  PyEval_RestoreThread(state);
}

PyObject* close_gate(PyObject* capsule, PyObject*) {
  void* interpreter = PyCapsule_GetPointer(capsule, kCapsuleName);
  if (interpreter == nullptr) return nullptr;
  close(static_cast<Interpreter*>(interpreter)->gate());
  end_threads_with(*static_cast<Interpreter*>(interpreter));
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
  drop([](void* argument) noexcept { PyRef::steal(static_cast<PyObject*>(argument)); }, object);
  return true;
}

void Interpreter::drop(DeferredCall::Body body, PyObject* object) const noexcept {
  if (!run(body, object)) references_left_behind.fetch_add(1, std::memory_order_relaxed);
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

void Interpreter::run_now(const DeferredCall& call) noexcept {
  ReleaseBoundary boundary;
  call.body(call.argument);
}

bool Interpreter::run(DeferredCall::Body body, void* argument) const noexcept {
  if (!tag_.is_armed()) return false;
  if (state_ != PyInterpreterState_Main() || enters_without_waiting(*this)) {
    GilScope gil(*this);
    if (gil.held()) run_now({body, argument});
    return gil.held();
  }
  if (!enter_gate(*this)) return false;
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
    // The queue keeps the reference, so that the target waits too. It must be offered while this
    // thread has the GIL, and not when an enclosing release ends.
    auto submit = [](void* argument) noexcept {
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
  PyRef::steal(object);
  return impl::HandOver::kDone;
}

}  // namespace slotcore::python
