// What the fork server's requests share: waiting for a child.
#pragma once

#include <sys/types.h>

namespace slotfuzz {

// Time for the watchdog's report, whose symbolizer reads the whole binary.
inline constexpr double kTimeoutSecondsDefault = 20;
// The limit of a line in a child, unless the session's is lower.
inline constexpr double kLineSecondsOfChild = 5;

enum class Ended { kByItself, kTooLate, kKilled };

// Waits for the child, and ends it when it has used a processor for so long, or sleeps by then.
// kKilled: something outside sent SIGKILL, as the kernel does for want of memory, to the child or
// to the symbolizer that its report asks (SIGPIPE). The subject had no part in that, and the
// request is to be made again.
Ended wait_for(pid_t child, double seconds, int& status);
// What a child prints goes nowhere.
void silence();

}  // namespace slotfuzz
