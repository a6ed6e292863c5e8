// The threads of a process as the kernel sees them: whether they could run, and for how long they
// did. On a busy machine the time that has passed says neither.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace slotfuzz {

// Ids of the threads of `process`, in order; empty when it has ended.
std::vector<pid_t> threads_of(pid_t process);
// What the kernel says of a thread under a word such as "State:"; empty when it has ended.
std::string status_of(pid_t process, pid_t thread, std::string_view word);
// Whether a thread of `process`, but one, runs or is in the queue for a processor.
bool has_ready_thread(pid_t process, pid_t but = 0);
// What the threads of `process` have spent on processors.
double processor_seconds(pid_t process);

}  // namespace slotfuzz
