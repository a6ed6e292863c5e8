// The child does not inherit its parent's stdin and stdout, and dies with it.
#include "harness/engine/serve/zygote.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "harness/engine/check.h"

namespace slotfuzz {
namespace {

using nlohmann::json;

void become_child(int errors, pid_t parent) {
  CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "prctl: " << std::strerror(errno));
  if (getppid() != parent) std::_Exit(0);  // the parent died before prctl()
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nowhere, STDIN_FILENO);
  dup2(nowhere, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
}

}  // namespace

std::vector<std::string> spawn(LateImports& imports) {
  std::cout << json{{"ready", true}} << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const json request = json::parse(line, nullptr, false);
    if (!request.is_object()) throw StartError("not a JSON object: " + line);
    const std::string path = request.at("errors");
    const int errors = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (errors < 0) throw StartError(path + ": " + std::strerror(errno));
    imports.learn();
    const pid_t parent = getpid(), child = fork();
    CHECK(child >= 0, "fork: " << std::strerror(errno));
    if (child == 0) {
      become_child(errors, parent);
      return request.at("words").get<std::vector<std::string>>();
    }
    close(errors);
    std::cout << json{{"pid", child}} << std::endl;
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child, "waitpid: " << std::strerror(errno));
    const int code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    std::cout << json{{"exit", code}} << std::endl;
  }
  std::_Exit(0);
}

}  // namespace slotfuzz
