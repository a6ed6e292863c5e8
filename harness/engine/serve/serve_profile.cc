// Writes and resets clang's coverage profile around each line.
#include "harness/engine/serve/serve_profile.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "harness/engine/check.h"
#include "harness/engine/serve/serve_child.h"

// From the profile's runtime, which only a coverage build links in.
extern "C" {
__attribute__((weak)) void __llvm_profile_set_filename(const char*);
__attribute__((weak)) int __llvm_profile_write_file(void);
__attribute__((weak)) void __llvm_profile_reset_counters(void);
}

namespace slotfuzz {
namespace {

constexpr double kProgramSeconds = 20;

// Forwards to the judge, whose own code must not be counted.
class ProfileWatcher final : public Watcher {
 public:
  ProfileWatcher(Session& session, std::string folder)
      : judge_(session.judge), table_(session.table), folder_(std::move(folder)) {}

  void start(const Program& program) override { judge_.start(program); }
  void before_line(std::size_t index, const Line& line) override {
    judge_.before_line(index, line);
    __llvm_profile_reset_counters();
  }
  void after_line(std::size_t index, const Line& line, PyObject* raised) override {
    write(std::string(table_.ops()[line.op].name));
    judge_.after_line(index, line, raised);
    __llvm_profile_reset_counters();
  }
  void after_drop() override {
    write(kEndOfProgram);
    judge_.after_drop();
  }

 private:
  // The %m makes the runtime merge files with the same name.
  void write(const std::string& name) {
    const std::string path = folder_ + "/" + name + "-%m.profraw";
    __llvm_profile_set_filename(path.c_str());
    CHECK(__llvm_profile_write_file() == 0, "cannot write " << path);
  }

  Judge& judge_;
  const OpTable& table_;
  const std::string folder_;
};

}  // namespace

nlohmann::json run_profile(Session& session, const nlohmann::json& request) {
  if (!__llvm_profile_write_file) return {{"error", "this build counts no coverage"}};
  const std::string folder = request.at("folder");
  std::size_t died = 0;
  for (const std::string text : request.at("profile")) {
    Program program = session.printer.parse(text);
    session.mask(program);
    session.executor.prepare(program);
    const pid_t child = fork();
    CHECK(child >= 0, "fork: " << std::strerror(errno));
    if (child == 0) {
      silence();
      ProfileWatcher watcher(session, folder);
      session.executor.run(program, watcher);
      std::_Exit(0);
    }
    int status = 0;
    if (wait_for(child, kProgramSeconds, status) == Ended::kKilled) return {{"killed", true}};
    died += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
  return {{"died", died}};
}

}  // namespace slotfuzz
