// Whether this thread holds a GIL, asked from where it may hold none.
#pragma once

#include <Python.h>

namespace slotcore::python {

// The thread state that this thread runs with, or null if it does not hold a GIL. Any thread.
PyThreadState* current_thread_state() noexcept;

}  // namespace slotcore::python
