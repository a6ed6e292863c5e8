// Which thread holds the GIL: CPython 3.13 and later have a public function for that. Before 3.12
// this file searches, because CPython itself took the thread that holds the GIL for the caller.

#include "core/python/runtime/gil.h"

#if PY_VERSION_HEX < 0x030C0000
#define Py_BUILD_CORE 1  // for the list of interpreters and its lock, and for pending calls
#include <internal/pycore_ceval.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE
#endif

namespace slotcore::python {

#if PY_VERSION_HEX >= 0x030D0000
PyThreadState* current_thread_state() noexcept { return PyThreadState_GetUnchecked(); }
#elif PY_VERSION_HEX >= 0x030C0000
PyThreadState* current_thread_state() noexcept { return _PyThreadState_UncheckedGet(); }
#else
namespace {

// Whether `state` belongs to this thread. It may belong to another thread, which may free it at any
// time. So it is compared with the states that CPython lists, under the lock of that list.
bool belongs_to_this_thread(const PyThreadState* state) noexcept {
  const unsigned long self = PyThread_get_thread_ident();
  bool found = false;
  PyThread_acquire_lock(_PyRuntime.interpreters.mutex, WAIT_LOCK);
  for (auto* interp = _PyRuntime.interpreters.head; interp != nullptr; interp = interp->next) {
    for (auto* listed = interp->threads.head; listed != nullptr; listed = listed->next) {
      if (listed == state) found = listed->thread_id == self;
    }
  }
  PyThread_release_lock(_PyRuntime.interpreters.mutex);
  return found;
}

}  // namespace

// CPython 3.11 returns the state of the thread that holds the GIL, which may be another thread. A
// thread that never ran Python has no state. A thread that runs its usual state is recognised by
// that. A thread inside of a sub-interpreter, or one that has given up the GIL, needs the search.
PyThreadState* current_thread_state() noexcept {
  PyThreadState* usual = PyGILState_GetThisThreadState();
  PyThreadState* holder = _PyThreadState_UncheckedGet();
  if (usual == nullptr || holder == nullptr) return nullptr;
  return usual == holder || belongs_to_this_thread(holder) ? holder : nullptr;
}
#endif

#if PY_VERSION_HEX >= 0x030C0000
void add_pending_call_of_main(int (*call)(void*), void* argument) noexcept {
  Py_AddPendingCall(call, argument);
}
#else
// Py_AddPendingCall would add the call to the interpreter of the thread that holds the GIL. That
// interpreter runs it on the main thread alone, perhaps never, and may be freed meanwhile.
void add_pending_call_of_main(int (*call)(void*), void* argument) noexcept {
  _PyEval_AddPendingCall(PyInterpreterState_Main(), call, argument);
}
#endif

}  // namespace slotcore::python
