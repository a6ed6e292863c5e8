// What a thread does that CPython kills.
#pragma once

#include <cxxabi.h>
#include <unistd.h>

#include <utility>

namespace slotcore::python {

// Returns what `call` returns, which may run Python or take the GIL. Until Python 3.13, CPython
// ends a thread that takes the GIL while the interpreter ends, by pthread_exit(). glibc then
// unwinds the frames of the thread: those of C++ would release what they own without the GIL, and
// the first destructor among them would end the process. So the thread sleeps until the process
// ends, as each such thread does from Python 3.14 on (T8).
template <typename Call>
auto unless_killed(Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

}  // namespace slotcore::python
