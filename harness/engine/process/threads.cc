// Reads /proc; only CPU time comes from a clock.
#include "harness/engine/process/threads.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "harness/engine/check.h"

namespace slotfuzz {

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator(
           "/proc/" + std::to_string(process) + "/task", error)) {
    threads.push_back(std::atoi(task.path().filename().c_str()));
  }
  std::sort(threads.begin(), threads.end());
  return threads;
}

std::string status_of(pid_t process, pid_t thread, std::string_view word) {
  std::ifstream status("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) +
                       "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(word)) return line.substr(word.size());
  }
  return "";
}

bool has_ready_thread(pid_t process, pid_t but) {
  const std::vector<pid_t> threads = threads_of(process);
  return std::any_of(threads.begin(), threads.end(), [&](pid_t thread) {
    return thread != but &&
           status_of(process, thread, "State:").find('R') != std::string::npos;
  });
}

double processor_seconds(pid_t process) {
  clockid_t clock = 0;
  timespec spent{};
  CHECK(clock_getcpuclockid(process, &clock) == 0, "the clock of process " << process);
  CHECK(clock_gettime(clock, &spent) == 0, "the clock of process " << process);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

}  // namespace slotfuzz
