// Interpreter: the core's part of one Python interpreter: the vtable behind its tag, and the few
// numbers and pointers that wrappers must reach even while the module is being torn down. Each
// Python interpreter has one in its own dict. It is never freed; it is disarmed when that dict is
// cleared (Note [A PyInterpreter is never freed]).
#pragma once

#include <Python.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "core/c10/impl/protocol/deferred_calls.h"
#include "core/c10/impl/protocol/shutdown_gate.h"
#include "core/c10/impl/py_interpreter.h"

namespace slotcore::python {

struct ModuleState;

// Note [The shutdown gate]
// If a thread takes the GIL of an interpreter that is ending, CPython kills the thread, which may
// be in the middle of a destructor. If a thread takes the GIL later, it reads freed memory. When
// each interpreter has its own GIL, nothing else excludes these cases. So threads from outside pass
// a shutdown gate (rundown protection). When the interpreter begins to end (atexit), it closes the
// gate and waits for the threads that are inside. The gate refuses threads that come later, and
// they leak their reference (T6). Threads of the interpreter itself need not pass the gate.
using ShutdownGate = impl::protocol::ShutdownGate<impl::protocol::StdPolicy>;

// Note [Without the GIL, defer the work]
// A thread that releases a last reference may hold a lock, and a thread that holds the GIL may wait
// for that lock. If the first thread waited for the GIL, both would wait for ever (T6). So work
// that needs the GIL of the main interpreter is deferred to a thread that has it: the next thread
// that makes or wraps a storage or tensor, or the thread that ends the interpreter. A pending call
// of CPython does it at the latest when the main thread takes the GIL again. CPython has no pending
// calls for sub-interpreters: there the thread takes the GIL itself and waits. When all
// interpreters share one GIL (until CPython 3.12), a thread that has it in another interpreter
// switches over and does the work at once.
struct DeferredCall {
  using Body = void (*)(void*) noexcept;
  Body body;
  void* argument;
};
using Deferred =
    impl::protocol::DeferredCalls<impl::protocol::StdPolicy, std::vector<DeferredCall>>;

class Interpreter final : public impl::PyInterpreterVTable {
 public:
  // The Interpreter of the running Python interpreter; made at the first call. Throws
  // PythonErrorSet.
  static Interpreter* current();

  const char* name() const noexcept override { return name_.c_str(); }
  void incref(PyObject* object) const noexcept override;
  bool decref(PyObject* object) const noexcept override;
  bool try_incref(const impl::PyObjectSlot* slot) const noexcept override;
  impl::HandOver hand_over(intrusive_ptr_target* target,
                           impl::PyObjectSlot* slot) const noexcept override;

  // Runs `body(argument)` under the GIL, from any thread: now, or soon on a thread that has the
  // GIL; see Note [Without the GIL, defer the work]. Releases in `body` are outermost ones. False
  // if the interpreter has ended; then `body` never runs.
  bool run(DeferredCall::Body body, void* argument) const noexcept;
  // The same for a `body` that drops a reference to `object`, which is counted if it never runs.
  void drop(DeferredCall::Body body, PyObject* object) const noexcept;
  // Runs the calls that other threads have deferred, if any. Needs the GIL.
  void run_deferred() const noexcept {
    if (deferred_.any()) [[unlikely]]
      deferred_.run(&run_now);
  }

  // References, in all interpreters, that C++ released while their interpreter was ending: no
  // thread decrefs them any more (T6), so their wrappers and impls stay. Also counts wrappers that
  // outlived their interpreter, if the protocol lets each keep its impl.
  static int64_t left_behind() noexcept;

  impl::PyInterpreter* tag() noexcept { return &tag_; }
  const impl::PyInterpreter* tag() const noexcept { return &tag_; }
  PyInterpreterState* state() const noexcept { return state_; }
  ShutdownGate& gate() const noexcept { return gate_; }

  // The state of the module that wraps for this interpreter, or null. Read and written under its
  // GIL.
  ModuleState* module = nullptr;
  // The number of wrapper objects. Read and written under the GIL.
  int64_t live_wrappers = 0;
  // The number of ctxs of custom Functions, likewise.
  int64_t live_contexts = 0;

 private:
  explicit Interpreter(PyInterpreterState* state);
  static void run_now(const DeferredCall& call) noexcept;

  impl::PyInterpreter tag_;
  PyInterpreterState* state_;
  mutable ShutdownGate gate_;
  mutable Deferred deferred_;
  std::string name_;
};

}  // namespace slotcore::python
