// The verdict on a program with tampering, after which a reset would fail.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "harness/engine/planted/tampering.h"
#include "harness/engine/process/probe.h"
#include "tests/engine/session_fixture.h"

namespace slotfuzz {

// Runs REPORT in a child with a pipe. Returns what REPORT wrote, or `#` and the status if it
// crashed or hung.
inline std::string reported_by_child(const std::function<void(int)>& report) {
  // The child is forked as Python forks, so Python must run. It comes before the pipe, which a
  // process of the session would otherwise keep open.
  test_session();
  int ends[2];
  if (pipe(ends) != 0) return "# no pipe";
  const int status = status_of_child([&] { report(ends[1]); });
  close(ends[1]);
  std::string reported(4096, '\0');
  const ssize_t size = read(ends[0], reported.data(), reported.size());
  reported.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  close(ends[0]);
  // A process with a planted bug exits with 1.
  return WIFEXITED(status) && WEXITSTATUS(status) <= 1 ? reported
                                                       : "# status " + std::to_string(status);
}

// The first verdict of JUDGE as "contract check (object)", or "clean".
inline std::string reported_of(std::string_view text, Judge& judge) {
  return reported_by_child([&](int pipe) {
    const auto report = [&](const Verdict& verdict) {
      const std::string reported =
          !verdict.found() ? "clean"
                           : verdict.contract + ' ' + verdict.check + " (" + verdict.object + ')';
      if (write(pipe, reported.data(), reported.size()) < 0) std::abort();
      std::_Exit(0);
    };
    Session& session = test_session();
    Tampering tampering(text, session.printer, session.interpreter, judge, report);
    session.executor.run(tampering.program(), tampering);
    report(judge.verdict());
  });
}

}  // namespace slotfuzz
