// Crash reports for a process without a sanitizer. The dying process leaves a note in shared
// memory, and its parent writes the report from it. A handler that allocated or symbolised in the
// dying process would deadlock after a crash inside malloc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace slotfuzz {

struct CrashNote {
  // 0 while the process lives.
  int signal = 0;
  // The address that faulted, the stack pointer, and whether the fault was a jump to `address`.
  std::uintptr_t address = 0, stack = 0;
  bool jumped = false;
  // The innermost frame is first; the frames before `first` belong to the handler.
  std::size_t count = 0, first = 0;
  std::array<void*, 64> frames{};
};

// Installs handlers that fill in the note before a signal ends this process. Does nothing in a
// build whose sanitizer reports signals.
void note_crashes(CrashNote& note);

// Has `act` called when a sanitizer or a signal ends this process: in a signal handler, so it may
// not allocate. Call it after note_crashes().
void act_at_death(void (*act)());

// The report of a crash of a fork of this process: the signal, and the stack with the names that
// libraries export. Empty if the note is empty.
std::string report_of(const CrashNote& note);

}  // namespace slotfuzz
