// Forks a child and waits for it.
#include "harness/engine/process/probe.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "harness/engine/check.h"
#include "harness/engine/python.h"

namespace slotfuzz {
namespace {

// All probes of a target together take some tens of milliseconds.
constexpr unsigned kSecondsMax = 60;

}  // namespace

int status_of_child(const std::function<void()>& probe) {
  // os.fork() calls this too. Without it the child would wait for a Python thread that waits for
  // the GIL in the parent and does not exist in the child.
  PyOS_BeforeFork();
  const pid_t child = fork();
  CHECK(child >= 0, "fork: " << std::strerror(errno));
  if (child == 0) {
    PyOS_AfterFork_Child();
    alarm(kSecondsMax);
    probe();
    std::_Exit(0);
  }
  PyOS_AfterFork_Parent();
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child, "waitpid: " << std::strerror(errno));
  return status;
}

}  // namespace slotfuzz
