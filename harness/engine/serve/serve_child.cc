// Waits with a time limit, through a pidfd of the child.
#include "harness/engine/serve/serve_child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>

#include "harness/engine/check.h"
#include "harness/engine/process/threads.h"

namespace slotfuzz {

Ended wait_for(pid_t child, double seconds, int& status) {
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  CHECK(descriptor >= 0, "pidfd_open: " << std::strerror(errno));
  pollfd event{descriptor, POLLIN, 0};
  double left = seconds;
  int ready = 0;
  do {
    ready = poll(&event, 1, static_cast<int>(std::ceil(left * 1000)));
    left = seconds - processor_seconds(child);
  } while (ready == 0 && left > 0 && has_ready_thread(child));
  close(descriptor);
  if (ready == 0) kill(child, SIGKILL);
  CHECK(waitpid(child, &status, 0) == child, "waitpid: " << std::strerror(errno));
  if (ready == 0) return Ended::kTooLate;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return signal == SIGKILL || signal == SIGPIPE ? Ended::kKilled : Ended::kByItself;
}

void silence() {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDERR_FILENO);
  dup2(nowhere, STDOUT_FILENO);
}

}  // namespace slotfuzz
