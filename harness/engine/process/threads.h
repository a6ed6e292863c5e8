// The threads of a process as the kernel sees them: whether they are runnable, and how much CPU
// time they used. On a busy machine, elapsed time shows neither.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace slotfuzz {

// Ids of the threads of `process`, in order; empty when the process has ended.
std::vector<pid_t> threads_of(pid_t process);
// The kernel's value for a thread under a key such as "State:"; empty when the thread has ended.
std::string status_of(pid_t process, pid_t thread, std::string_view word);
// Whether a thread of `process`, other than thread `but`, runs or is queued for a processor.
bool has_ready_thread(pid_t process, pid_t but = 0);
// The CPU time that the threads of `process` have used.
double processor_seconds(pid_t process);

}  // namespace slotfuzz
