// The flight recorder keeps the last programs that ran, in a memory-mapped file. No crash of the
// process loses the program that it ran or the programs before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slotfuzz {

inline constexpr std::size_t kRecorderSlots = 256;
// A longer program is cut. kLineMax lines of kLineLengthMax bytes would not fit; none comes near.
inline constexpr std::size_t kRecorderSlotBytes = 4096;

class Recorder {
 public:
  // Opens or creates the file. Throws StartError when the file cannot be written.
  explicit Recorder(const std::string& path);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  // Call this before the program runs.
  void write(std::string_view program);

 private:
  struct File;
  File* file_ = nullptr;
};

struct Recording {
  // The number of programs that ran, and the last of them, oldest first.
  std::uint64_t count = 0;
  std::vector<std::string> programs;
};

// Reads a recorder's file. Throws StartError when the file is not a recorder's.
Recording read_recording(const std::string& path);

}  // namespace slotfuzz
