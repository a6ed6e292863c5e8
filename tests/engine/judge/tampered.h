// The verdict on a program with tampering, after which a reset would fail.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "harness/engine/check.h"
#include "harness/engine/planted/tampering.h"
#include "tests/engine/session_fixture.h"

namespace slotfuzz {

// Runs TELL in a child with a pipe. Returns what TELL wrote, or `#` and the status if it crashed.
inline std::string told_by_child(const std::function<void(int)>& tell) {
  int ends[2];
  if (pipe(ends) != 0) return "# no pipe";
  const pid_t child = fork();
  if (child == 0) {
    tell(ends[1]);
    std::_Exit(0);
  }
  close(ends[1]);
  std::string told(4096, '\0');
  const ssize_t size = read(ends[0], told.data(), told.size());
  told.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  // A process with a planted bug exits with 1.
  return WIFEXITED(status) && WEXITSTATUS(status) <= 1 ? told
                                                       : "# status " + std::to_string(status);
}

// The first verdict of JUDGE as "contract check (object)", or "clean".
inline std::string told_of(std::string_view text, Judge& judge) {
  return told_by_child([&](int pipe) {
    const auto tell = [&](const Verdict& verdict) {
      const std::string told =
          !verdict.found() ? "clean"
                           : verdict.contract + ' ' + verdict.check + " (" + verdict.object + ')';
      if (write(pipe, told.data(), told.size()) < 0) std::abort();
      std::_Exit(0);
    };
    Session& session = test_session();
    Tampering tampering(text, session.printer, session.interpreter, judge, tell);
    session.executor.run(tampering.program(), tampering);
    tell(judge.verdict());
  });
}

}  // namespace slotfuzz
