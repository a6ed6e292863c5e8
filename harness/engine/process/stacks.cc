// Signals each thread, collects addresses in the handler, and symbolises them outside of it.
#include "harness/engine/process/stacks.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <sstream>

#ifdef SLOTFUZZ_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

#include "harness/engine/process/threads.h"

// An internal function of AddressSanitizer's runtime, which another release may lack.
namespace __asan {
__attribute__((weak)) void SetMallocContextSize(unsigned size);
}

namespace slotfuzz {
namespace {

constexpr int kFramesMax = 48;
constexpr int kAnswerSecondsMax = 2;
// The blocking call is within this many frames of the top of the stack, below the signal's frames.
constexpr std::size_t kWaitFramesMax = 14;
// libFuzzer, the sanitizers and Python use the signals below this one.
const int kSignal = SIGRTMIN + 5;

// The capture of one thread. The signal carries its address, so no global is needed.
struct Capture {
  sem_t done;
  // A signal orders no memory accesses, neither by the C++ standard nor for ThreadSanitizer.
  std::atomic<bool> ready{false};
  std::uintptr_t handle = 0;
  int count = 0;
  std::array<void*, kFramesMax> addresses;
};

_Unwind_Reason_Code keep_frame(_Unwind_Context* context, void* argument) {
  auto* capture = static_cast<Capture*>(argument);
  if (capture->count == kFramesMax) return _URC_END_OF_STACK;
  capture->addresses[capture->count++] = reinterpret_cast<void*>(_Unwind_GetIP(context));
  return _URC_NO_REASON;
}

void answer(int, siginfo_t* info, void*) {
  if (info->si_code != SI_QUEUE) return;
  const int error = errno;
  auto* capture = static_cast<Capture*>(info->si_value.sival_ptr);
  // Acquire: pairs with the release in interrupt().
  if (!capture->ready.load(std::memory_order_acquire)) return;
  capture->handle = reinterpret_cast<std::uintptr_t>(pthread_self());
  _Unwind_Backtrace(&keep_frame, capture);
  sem_post(&capture->done);
  errno = error;
}

bool send(pid_t thread, Capture* capture) {
  siginfo_t info{};
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = capture;
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, kSignal, &info) == 0;
}

// Threads of a sanitizer's runtime block all signals and would never answer.
bool blocks_signal(pid_t thread) {
  const std::string blocked = status_of(getpid(), thread, "SigBlk:");
  return blocked.empty() || std::strtoull(blocked.c_str(), nullptr, 16) >> (kSignal - 1) & 1;
}

// What a thread waits for, by the name of a frame. The first row that matches any frame counts: the
// GIL is a condition variable, and a Python lock is a semaphore. A stripped libc names its exported
// functions only, and pthread_join() leaves no frame, since it ends in a call of a function that is
// not exported. Its caller in the C++ library is exported.
constexpr std::pair<std::string_view, Wait> kWaits[] = {
    {"take_gil", Wait::kGil},
    {"PyGILState_Ensure", Wait::kGil},
    {"PyEval_RestoreThread", Wait::kGil},
    {"PyEval_AcquireThread", Wait::kGil},
    {"PyThread_acquire_lock", Wait::kPythonLock},
    {"pthread_mutex_lock", Wait::kMutex},
    {"lll_lock_wait", Wait::kMutex},
    {"pthread_rwlock_", Wait::kLock},
    {"pthread_cond_", Wait::kCondition},
    {"std::thread::join", Wait::kThread},
    {"pthread_join", Wait::kThread},
    {"pthread_clockjoin", Wait::kThread},
    {"pthread_timedjoin", Wait::kThread},
    {"sem_wait", Wait::kSemaphore},
    {"sem_clockwait", Wait::kSemaphore},
    {"sem_timedwait", Wait::kSemaphore},
    {"futex", Wait::kFutex},
};

Wait waits_for(const std::vector<std::string>& frames) {
  const auto end =
      frames.begin() + static_cast<std::ptrdiff_t>(std::min(frames.size(), kWaitFramesMax));
  for (const auto& [word, what] : kWaits) {
    const bool found = std::any_of(frames.begin(), end, [&, word = word](const std::string& frame) {
      return frame.substr(0, frame.rfind(' ')).find(word) != std::string::npos;
    });
    if (found) return what;
  }
  return Wait::kNothing;
}

// The words of each wait, in the order of the enum.
constexpr std::pair<std::string_view, std::string_view> kWaitWords[] = {
    {"", ""},
    {"gil", "the GIL"},
    {"python_lock", "a lock of Python"},
    {"mutex", "a mutex"},
    {"lock", "a lock"},
    {"condition", "a condition"},
    {"thread", "the end of a thread"},
    {"semaphore", "a semaphore"},
    {"futex", "a futex"},
};
static_assert(std::size(kWaitWords) == static_cast<std::size_t>(Wait::kFutex) + 1);

bool is_of_fuzzer(const ThreadStack& stack) {
  return !stack.is_main &&
         std::any_of(stack.frames.begin(), stack.frames.end(), [](const std::string& frame) {
           return frame.find("fuzzer::RssThread") != std::string::npos;
         });
}

ThreadStack interrupt(pid_t thread) {
  ThreadStack stack;
  stack.id = thread;
  stack.is_main = thread == getpid();
  auto capture = std::make_unique<Capture>();
  sem_init(&capture->done, 0, 0);
  capture->ready.store(true, std::memory_order_release);  // pairs with answer()
  if (!send(thread, capture.get())) return stack;
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kAnswerSecondsMax;
  int answer = 0;
  do {
    answer = sem_timedwait(&capture->done, &until);
  } while (answer != 0 && errno == EINTR);
  if (answer != 0) {
    // The thread may still answer when it wakes, so the memory must stay.
    static_cast<void>(capture.release());
    return stack;
  }
  stack.handle = capture->handle;
  // The first frame is the handler.
  for (int i = 1; i < capture->count; ++i) {
    const auto frames = frames_at(capture->addresses[i]);
    stack.frames.insert(stack.frames.end(), frames.begin(), frames.end());
  }
  stack.waits_for = waits_for(stack.frames);
  return stack;
}

}  // namespace

std::string_view word_of(Wait wait) { return kWaitWords[static_cast<std::size_t>(wait)].first; }
std::string_view sentence_of(Wait wait) {
  return kWaitWords[static_cast<std::size_t>(wait)].second;
}

std::string activity_of(Wait wait) {
  return wait == Wait::kNothing ? "runs" : "waits for " + std::string(sentence_of(wait));
}

std::string name_of(const ThreadStack& stack, std::size_t number) {
  return stack.is_main ? "main thread" : "thread " + std::to_string(number);
}

void keep_allocation_frames([[maybe_unused]] unsigned count) {
  // Other builds must not even contain the call: a fleet would see two sanitizers in one binary.
  if constexpr (__has_feature(address_sanitizer)) {
    if (__asan::SetMallocContextSize) __asan::SetMallocContextSize(count);
  }
}

#ifdef SLOTFUZZ_SANITIZER
// An address may stand for several frames; inlined functions come first.
std::vector<std::string> frames_at(const void* address) {
  std::array<char, 8192> text{};
  __sanitizer_symbolize_pc(const_cast<void*>(address), "%p %F %L", text.data(), text.size() - 1);
  std::vector<std::string> frames;
  for (const char* one = text.data(); *one != '\0'; one += std::strlen(one) + 1) {
    frames.emplace_back(one);
  }
  return frames;
}
#else
std::vector<std::string> frames_at(const void* address) {
  Dl_info info{};
  const bool found = dladdr(address, &info) != 0;
  std::unique_ptr<char, decltype(&std::free)> demangled(
      found && info.dli_sname ? abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, nullptr)
                              : nullptr,
      &std::free);
  const char* name = demangled ? demangled.get() : found ? info.dli_sname : nullptr;
  std::ostringstream text;
  text << address << (name ? " in " : " ") << (name ? name : "") << " (";
  if (found) {
    text << info.dli_fname << "+0x" << std::hex
         << static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase);
  } else {
    text << "<unknown module>";
  }
  text << ")";
  return {text.str()};
}
#endif

std::vector<ThreadStack> stacks_of_other_threads() {
  struct sigaction action {};
  action.sa_sigaction = &answer;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  if (sigaction(kSignal, &action, nullptr) != 0) return {};
  std::vector<ThreadStack> stacks;
  for (const pid_t thread : threads_of(getpid())) {
    if (thread == gettid() || blocks_signal(thread)) continue;
    ThreadStack stack = interrupt(thread);
    if (!is_of_fuzzer(stack)) stacks.push_back(std::move(stack));
  }
  return stacks;
}

}  // namespace slotfuzz
