// Watches the steps of a run, and reports a hang.
#include "harness/engine/run/watchdog.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "harness/engine/check.h"
#include "harness/engine/run/interpreter.h"
#include "harness/engine/process/threads.h"

namespace slotfuzz {
namespace {

// How often the watchdog polls within the limit of a line.
constexpr int kLooksPerLimit = 8;
// The signal on which faulthandler prints the Python stacks of all threads.
const int kPythonSignal = SIGRTMIN + 6;

std::string text_of(const std::vector<ThreadStack>& stacks) {
  std::ostringstream text;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const ThreadStack& stack = stacks[i];
    text << "\n  " << name_of(stack, i) << " (0x" << std::hex << stack.handle << std::dec << ") "
         << activity_of(stack.waits_for) << ":\n";
    for (std::size_t frame = 0; frame < stack.frames.size(); ++frame) {
      text << "    #" << frame << ' ' << stack.frames[frame] << "\n";
    }
    if (stack.frames.empty()) text << "    it does not answer\n";
  }
  return text.str();
}

}  // namespace

Watchdog::Watchdog(const OpTable& table, const Interpreter& interpreter) : table_(table) {
  // faulthandler needs no GIL. It writes to file descriptor 2, whatever that is by then.
  const Ref done =
      interpreter.evaluate("__import__('faulthandler').register(" + std::to_string(kPythonSignal) +
                           ", file=2, all_threads=True)");
  CHECK(done, "faulthandler");
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wakes_.notify_one();
  thread_.join();
}

// raise() returns after the handler, since this thread receives the signal.
void Watchdog::print_python_stacks() { std::raise(kPythonSignal); }

void Watchdog::set_limit(double line_seconds) {
  CHECK(!thread_.joinable(), "the watchdog's limit is set while it runs");
  limit_ = std::chrono::duration<double>(line_seconds);
}

void Watchdog::abort_on_hang() {
  CHECK(!thread_.joinable(), "abort_on_hang() is called while the watchdog runs");
  aborts_ = true;
}

void Watchdog::on_hang(std::function<void(const std::vector<ThreadStack>&)> act) {
  CHECK(!thread_.joinable(), "on_hang() is called while the watchdog runs");
  on_hang_ = std::move(act);
}

void Watchdog::start() { thread_ = std::thread(&Watchdog::watch, this); }

void Watchdog::watch() {
  using Clock = std::chrono::steady_clock;
  std::uint64_t seen = 0;
  Clock::time_point since = Clock::now();
  double worked_before = 0;
  std::unique_lock lock(mutex_);
  while (!wakes_.wait_for(lock, limit_ / kLooksPerLimit, [this] { return over_; })) {
    // Acquire: pairs with the release in step(), so that line_ is that of this step or later.
    const std::uint64_t step = step_.load(std::memory_order_acquire);
    const auto now = Clock::now();
    if (step != seen) {
      seen = step;
      since = now;
      worked_before = processor_seconds(getpid());
    } else if (step % 2 == 1 && now - since >= limit_ &&
               (processor_seconds(getpid()) - worked_before >= limit_.count() ||
                !has_ready_thread(getpid(), gettid()))) {
      // A thread that was ready but got no processor used no CPU time: a busy machine, not a hang.
      report(step, std::chrono::duration<double>(now - since).count());
    }
  }
}

std::string Watchdog::where() const {
  // Relaxed: see watch().
  const std::uint64_t key = line_.load(std::memory_order_relaxed);
  if (key == kReset) return "the end of the program";
  Line line;
  line.lane = static_cast<std::uint8_t>(key >> (8 * kOperandMax + 16) & 3);
  line.op = static_cast<std::uint16_t>(key >> 8 * kOperandMax);
  for (std::size_t i = 0; i < kOperandMax; ++i) {
    line.operands[i] = static_cast<std::uint8_t>(key >> 8 * (kOperandMax - 1 - i));
  }
  CHECK((key_of(line) | key >> kIndexShift << kIndexShift) == key, "the key of a line");
  return "line " + std::to_string((key >> kIndexShift) + 1) + ", `" + table_.print(line) + "`,";
}

void Watchdog::report(std::uint64_t step, double seconds) const {
  const std::vector<ThreadStack> stacks = stacks_of_other_threads();
  // Acquire: as in watch(). If the step has ended, the line was slow and did not hang.
  if (step_.load(std::memory_order_acquire) != step) return;
  const bool all_wait = std::all_of(stacks.begin(), stacks.end(), [](const ThreadStack& stack) {
    return stack.waits_for != Wait::kNothing;
  });
  std::ostringstream text;
  text.precision(2);
  text << "slotfuzz: " << (all_wait ? "deadlock" : "hang") << ": " << where()
       << " does not come back in " << seconds << " s; "
       << (all_wait ? "every thread waits" : "not every thread waits") << "\n"
       << text_of(stacks) << "\n";
  const std::string words = text.str();
  CHECK(write(STDERR_FILENO, words.data(), words.size()) >= 0, "stderr");
  if (on_hang_) on_hang_(stacks);
  print_python_stacks();
  if (aborts_) std::abort();
  _exit(all_wait ? kDeadlockExit : kHangExit);
}

}  // namespace slotfuzz
