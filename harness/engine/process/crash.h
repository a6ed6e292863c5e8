// How a process dies that no sanitizer watches over: told by its parent, from what the process left
// in memory that they share. A handler that allocated or named functions in the dying process would
// wait for ever where malloc itself has crashed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace slotfuzz {

struct CrashNote {
  // 0 while it lives.
  int signal = 0;
  // What it could not reach, and where its stack was; whether it jumped there.
  std::uintptr_t address = 0, stack = 0;
  bool jumped = false;
  // The innermost frame is first; those before `first` are of the handler.
  std::size_t count = 0, first = 0;
  std::array<void*, 64> frames{};
};

// From now on a signal that ends this process is noted first. Does nothing in a build whose
// sanitizer reports signals.
void note_crashes(CrashNote& note);

// The report of a crash, for a process that is a fork of this one: signal and stack, with the names
// that libraries export. Empty if nothing was noted.
std::string report_of(const CrashNote& note);

}  // namespace slotfuzz
