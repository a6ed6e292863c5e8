// Questions about the GIL that a thread without a GIL may ask.
#pragma once

#include <Python.h>

namespace slotcore::python {

// The thread state that this thread runs with, or null if it does not hold a GIL. Any thread.
PyThreadState* current_thread_state() noexcept;

// The main interpreter will run `call(argument)` when its main thread takes the GIL again. If too
// many calls wait already, the call is dropped. Any thread may call this.
void add_pending_call_of_main(int (*call)(void*), void* argument) noexcept;

}  // namespace slotcore::python
