// Waits for a child; the fork server's requests share this.
#pragma once

#include <sys/types.h>

namespace slotfuzz {

// Includes time for the watchdog's report, for which the symbolizer reads the whole binary.
inline constexpr double kTimeoutSecondsDefault = 20;
// The limit of a line in a child, unless the session's is lower.
inline constexpr double kLineSecondsOfChild = 5;

enum class Ended { kByItself, kTooLate, kKilled };

// Waits for the child, and kills it when it has used this much CPU time, or sleeps after this much
// time. kKilled: something outside sent SIGKILL, as the kernel does when memory runs out, to the
// child or to its report's symbolizer (SIGPIPE). The subject did not cause that, and the caller
// must repeat the request.
Ended wait_for(pid_t child, double seconds, int& status);
// Redirects the output of this child to /dev/null.
void silence();

}  // namespace slotfuzz
