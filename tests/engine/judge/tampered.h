// What the judge says of a program that is tampered with, which cannot be reset.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "harness/engine/serve/tampering.h"
#include "tests/engine/session_fixture.h"

namespace slotfuzz {

// The first verdict of JUDGE as "contract check (object)", or "clean"; from a child, which ends
// with the verdict. With `#`, what the process died of.
inline std::string told_of(std::string_view text, Judge& judge) {
  Session& session = test_session();
  int ends[2];
  if (pipe(ends) != 0) return "# no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const auto tell = [&](const Verdict& verdict) {
      const std::string told =
          !verdict.found() ? "clean"
                           : verdict.contract + ' ' + verdict.check + " (" + verdict.object + ')';
      if (write(ends[1], told.data(), told.size()) < 0) std::abort();
      std::_Exit(0);
    };
    Tampering tampering(text, session.printer, session.interpreter, judge, tell);
    session.executor.run(tampering.program(), tampering);
    tell(judge.verdict());
  }
  close(ends[1]);
  std::string told(256, '\0');
  const ssize_t size = read(ends[0], told.data(), told.size());
  told.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? told : "# status " + std::to_string(status);
}

}  // namespace slotfuzz
