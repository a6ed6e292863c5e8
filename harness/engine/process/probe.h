// Probes what the subject can do, in a child, so that a probe changes nothing in the process that
// runs programs. An earlier interpreter, a type in use, or an object at some address would
// otherwise influence every program, and no script would contain it.
#pragma once

#include <functional>

namespace slotfuzz {

// Runs `probe` in a child and waits for it. CPython must run. Returns the child's wait status: 0
// when `probe` returned, SIGALRM when it took longer than a minute.
int status_of_child(const std::function<void()>& probe);

}  // namespace slotfuzz
