// The signal handler collects addresses and does nothing else.
#include "harness/engine/process/crash.h"

#include <dlfcn.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "harness/engine/check.h"
#include "harness/engine/process/stacks.h"

#ifdef SLOTFUZZ_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace slotfuzz {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
// A stack overflow faults in the guard page, at most this many bytes from the stack pointer.
constexpr std::uintptr_t kGuardBytes = 64 << 10;

// A signal handler gets no argument of ours, so it finds the note here.
CrashNote* note_of_process = nullptr;
void (*act_of_process)() = nullptr;

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void*) {
  CrashNote& note = *note_of_process;
  if (note.count == note.frames.size()) return _URC_END_OF_STACK;
  note.frames[note.count++] = reinterpret_cast<void*>(_Unwind_GetIP(context));
  return _URC_NO_REASON;
}

// The frames before that of `instruction` belong to the handler: `first` skips them.
void unwind(const void* instruction) {
  CrashNote& note = *note_of_process;
  _Unwind_Backtrace(&note_frame, nullptr);
  const auto end = note.frames.begin() + static_cast<std::ptrdiff_t>(note.count);
  const auto place = std::find(note.frames.begin(), end, instruction);
  note.first = static_cast<std::size_t>(place - note.frames.begin());
}

// A signal handler may call this. The unwinder reads the bytes of code that has no unwind
// information, and would fault on a bad address.
bool is_code(const void* instruction) {
  dl_find_object found{};
  return _dl_find_object(const_cast<void*>(instruction), &found) == 0;
}

void handle(int number, siginfo_t* info, void* context) {
  CrashNote& note = *note_of_process;
  note.signal = number;
  if (number != SIGABRT) note.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
#if defined(__x86_64__)
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  note.stack = static_cast<std::uintptr_t>(registers[REG_RSP]);
  const greg_t instruction = registers[REG_RIP];
  const greg_t stack = registers[REG_RSP];
  if (!is_code(reinterpret_cast<const void*>(instruction))) {
    // The process jumped to a bad address: unwind from its caller. The registers are restored
    // below.
    note.jumped = true;
    registers[REG_RIP] = *reinterpret_cast<const greg_t*>(stack);
    registers[REG_RSP] += sizeof(greg_t);
  }
  const auto* from = reinterpret_cast<const void*>(registers[REG_RIP]);
  if (is_code(from)) unwind(from);
  registers[REG_RIP] = instruction;
  registers[REG_RSP] = stack;
#else
  static_cast<void>(context);
  unwind(nullptr);
  note.first = 0;  // keep the handler's frames
#endif
  if (act_of_process != nullptr) act_of_process();
  // The process dies of the signal when this handler returns.
  std::signal(number, SIG_DFL);
  std::raise(number);
}

bool is_stack_overflow(const CrashNote& note) {
  return note.signal == SIGSEGV && !note.jumped && note.address + kGuardBytes > note.stack &&
         note.address < note.stack + kGuardBytes;
}

}  // namespace

void note_crashes(CrashNote& note) {
  if (kHasSanitizer) return;
  note_of_process = &note;
  // After a stack overflow the handler needs a stack of its own.
  static std::array<char, 64 << 10> room;
  stack_t other{};
  other.ss_sp = room.data();
  other.ss_size = room.size();
  CHECK(sigaltstack(&other, nullptr) == 0, "sigaltstack: " << std::strerror(errno));
  struct sigaction action {};
  action.sa_sigaction = &handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int number : kSignals) {
    CHECK(sigaction(number, &action, nullptr) == 0, "sigaction: " << std::strerror(errno));
  }
}

void act_at_death(void (*act)()) {
#ifdef SLOTFUZZ_SANITIZER
  __sanitizer_set_death_callback(act);
#else
  act_of_process = act;
#endif
}

std::string report_of(const CrashNote& note) {
  if (note.signal == 0) return "";
  std::ostringstream text;
  text << "slotfuzz: crash: "
       << (is_stack_overflow(note) ? "stack-overflow" : sigabbrev_np(note.signal));
  if (note.signal != SIGABRT) text << " on address 0x" << std::hex << note.address;
  text << "\n";
  for (std::size_t i = note.first; i < note.count; ++i) {
    // A return address may lie behind the end of the calling function.
    const char* address = static_cast<const char*>(note.frames[i]) - (i > note.first ? 1 : 0);
    for (const std::string& frame : frames_at(address)) {
      text << "    #" << std::dec << i - note.first << ' ' << frame << "\n";
    }
  }
  return text.str();
}

}  // namespace slotfuzz
