// Interpreter: one Python interpreter as the core sees it, that is the vtable behind its tag, and
// the few numbers and pointers that wrappers must reach even while the module is being torn down.
// There is one per Python interpreter, kept in the interpreter's own dict; it is never freed, and
// disarmed when that dict goes (Note [A PyInterpreter is never freed]).
#pragma once

#include <Python.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/c10/impl/py_interpreter.h"

namespace slotcore::python {

struct ModuleState;

// Note [The door of an interpreter]
// A thread that takes the GIL of an interpreter which is ending is killed by CPython in the middle
// of a destructor, and one that takes it later reads freed memory. With a GIL for each interpreter
// nothing else keeps the two apart. So those that come from outside go through a door. When the
// interpreter begins to end (atexit), it closes the door and waits for those that are inside;
// whoever comes later is turned away, and leaks (T6). Its own threads need no door.
class Door {
 public:
  // False when it is closed. Else leave() must follow.
  bool enter() noexcept;
  void leave() noexcept;
  // Closes for ever, and returns when nobody is inside. Needs the GIL, which it gives up to wait.
  void close() noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  int inside_ = 0;
  bool closed_ = false;
};

// Note [Who has no GIL does not wait for one]
// A thread that drops a last reference may hold a lock of its own, and another one that holds the
// GIL may wait for that lock; if the first waited for the GIL, both would wait for ever (T6). So
// what has to be done under the GIL of the main interpreter is left to a thread that has it: who
// makes or wraps a storage or tensor next, or ends the interpreter, and CPython by a pending call,
// at the latest when its main thread takes the GIL again. CPython has no pending calls for
// sub-interpreters: there the thread takes the GIL itself and waits. A thread that has the GIL of
// another interpreter, when all of them share it (until CPython 3.12), goes over and does it now.
class Deferred {
 public:
  using Body = void (*)(void*) noexcept;

  // Any thread. True when there was nothing before.
  bool add(Body body, void* argument) noexcept;
  // Runs what there is. Needs the GIL.
  void run() noexcept;
  // Relaxed: a hint for those that would call run() anyway; the lock orders.
  bool any() const noexcept { return any_.load(std::memory_order_relaxed); }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Body, void*>> calls_;
  std::atomic<bool> any_{false};
};

class Interpreter final : public impl::PyInterpreterVTable {
 public:
  // The one of the running interpreter; made at the first call. Throws PythonErrorSet.
  static Interpreter* current();

  const char* name() const noexcept override { return name_.c_str(); }
  void incref(PyObject* object) const noexcept override;
  bool decref(PyObject* object) const noexcept override;
  bool try_incref(const impl::PyObjectSlot* slot) const noexcept override;
  impl::HandOver hand_over(intrusive_ptr_target* target,
                           impl::PyObjectSlot* slot) const noexcept override;

  // Runs `body(argument)` under the GIL, from any thread: now, or soon on a thread that has the
  // GIL; see Note [Who has no GIL does not wait for one]. False if the interpreter has ended, and
  // then nothing was run nor will be.
  bool run(Deferred::Body body, void* argument) const noexcept;
  // What other threads have left, if anything. Needs the GIL.
  void run_deferred() const noexcept {
    if (deferred_.any()) [[unlikely]]
      deferred_.run();
  }

  // References, of all interpreters, that C++ let go while their interpreter ended: nobody drops
  // them any more (T6), so their wrappers and impls stay. And wrappers that lived when theirs had
  // ended, where the protocol lets each keep its impl.
  static int64_t left_behind() noexcept;

  impl::PyInterpreter* tag() noexcept { return &tag_; }
  const impl::PyInterpreter* tag() const noexcept { return &tag_; }
  PyInterpreterState* state() const noexcept { return state_; }
  Door& door() const noexcept { return door_; }

  // The module that wraps for this interpreter, or null. Read and written under its GIL.
  ModuleState* module = nullptr;
  // Wrapper objects that exist. Read and written under its GIL.
  int64_t live_wrappers = 0;

 private:
  explicit Interpreter(PyInterpreterState* state);

  impl::PyInterpreter tag_;
  PyInterpreterState* state_;
  mutable Door door_;
  mutable Deferred deferred_;
  std::string name_;
};

}  // namespace slotcore::python
