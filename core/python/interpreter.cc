// How C++ code on any thread gets at the objects of one Python interpreter, and does not when that
// interpreter has ended (T5, T6).

#include "core/python/interpreter.h"

#include "core/c10/impl/py_object_slot.h"
#include "core/c10/trace.h"
#include "core/python/py_ref.h"
#include "core/python/wrapper.h"

namespace slotcore::python {
namespace {

constexpr const char* kCapsuleName = "slotcore.interpreter";

bool is_finalizing() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// The thread state that this thread runs with, or null if it does not hold a GIL.
PyThreadState* current_thread_state() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked();
#elif PY_VERSION_HEX >= 0x030C0000
  return _PyThreadState_UncheckedGet();
#else
  // 3.11 answers with the holder of the GIL, which may be another thread. A thread that never ran
  // Python has no state of its own; one that runs its usual state is recognised by that. What is
  // left, a thread inside of a sub-interpreter, is told by its id.
  PyThreadState* usual = PyGILState_GetThisThreadState();
  PyThreadState* holder = _PyThreadState_UncheckedGet();
  if (usual == nullptr || holder == nullptr) return nullptr;
  if (usual == holder || holder->thread_id == PyThread_get_thread_ident()) return holder;
  return nullptr;
#endif
}

// Holds the GIL of one interpreter while it lives, or says that this is not possible any more.
class GilScope {
 public:
  explicit GilScope(const Interpreter& interpreter) noexcept {
    former_ = current_thread_state();
    // A thread that holds it already may go on, also while the interpreter ends.
    if (former_ != nullptr && former_->interp == interpreter.state()) {
      held_ = true;
      return;
    }
    if (!Py_IsInitialized() || is_finalizing()) return;
    held_ = true;
    if (former_ == nullptr && interpreter.state() == PyInterpreterState_Main()) {
      ensured_ = true;
      gil_ = PyGILState_Ensure();
      return;
    }
    if (former_ != nullptr) PyEval_SaveThread();
    own_ = PyThreadState_New(interpreter.state());
    PyEval_RestoreThread(own_);
  }

  ~GilScope() {
    if (ensured_) PyGILState_Release(gil_);
    if (own_ == nullptr) return;
    PyThreadState_Clear(own_);
    PyThreadState_DeleteCurrent();
    if (former_ != nullptr) PyEval_RestoreThread(former_);
  }
  GilScope(const GilScope&) = delete;
  GilScope& operator=(const GilScope&) = delete;

  bool held() const noexcept { return held_; }

 private:
  PyThreadState* former_ = nullptr;
  PyThreadState* own_ = nullptr;
  PyGILState_STATE gil_ = PyGILState_UNLOCKED;
  bool ensured_ = false;
  bool held_ = false;
};

void disarm(PyObject* capsule) {
  auto* interpreter = static_cast<Interpreter*>(PyCapsule_GetPointer(capsule, kCapsuleName));
  interpreter->tag()->disarm();
}

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
  checked(PyDict_SetItemString(dict, kCapsuleName, capsule.get()));
  return interpreter;
}

void Interpreter::incref(PyObject* object) const noexcept {
  GilScope gil(*this);
  if (gil.held()) Py_INCREF(object);
}

void Interpreter::decref(PyObject* object) const noexcept {
  GilScope gil(*this);
  if (gil.held()) Py_DECREF(object);
}

bool Interpreter::run(void (*body)(void*) noexcept, void* argument) const noexcept {
  if (!tag_.is_armed()) return false;
  GilScope gil(*this);
  if (gil.held()) body(argument);
  return gil.held();
}

impl::HandOver Interpreter::hand_over(intrusive_ptr_target* target,
                                      impl::PyObjectSlot* slot) const noexcept {
  GilScope gil(*this);
  if (!gil.held()) return impl::HandOver::kDisarmed;
  // Looked at again: before the GIL was ours, another thread may have locked a weak reference of
  // the impl and wrapped it, which takes the wrapper over.
  if (!slot->owns_pyobj()) return impl::HandOver::kNotOwned;
  PyObject* object = slot->unchecked_pyobj();
  slot->set_owns_pyobj(false);
  as_wrapper(object)->owned = true;
  trace("handed over", {"impl", target}, {"wrapper", object});
  Py_DECREF(object);
  return impl::HandOver::kDone;
}

}  // namespace slotcore::python
