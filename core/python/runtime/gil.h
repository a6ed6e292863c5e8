// What a thread that may hold no GIL asks of CPython.
#pragma once

#include <Python.h>

namespace slotcore::python {

// The thread state that this thread runs with, or null if it does not hold a GIL. Any thread.
PyThreadState* current_thread_state() noexcept;

// Has the main interpreter make `call(argument)` when its main thread takes the GIL again; not when
// too many calls wait already. Any thread.
void add_pending_call_of_main(int (*call)(void*), void* argument) noexcept;

}  // namespace slotcore::python
