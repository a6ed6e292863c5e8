// The flight recorder: the last programs that ran, in a memory-mapped file, so that no crash of the
// process, however hard, loses the one that it ran or the ones that led there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slotfuzz {

inline constexpr std::size_t kRecorderSlots = 256;
// A program of kLineMax lines of kLineLengthMax bytes does not fit, but none comes near; it is cut.
inline constexpr std::size_t kRecorderSlotBytes = 4096;

class Recorder {
 public:
  // Opens or creates the file. Throws StartError when it cannot be written.
  explicit Recorder(const std::string& path);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  // To be called before the program runs.
  void write(std::string_view program);

 private:
  struct File;
  File* file_ = nullptr;
};

struct Recording {
  // Programs that ran; the last of them, oldest first.
  std::uint64_t count = 0;
  std::vector<std::string> programs;
};

// What a recorder's file holds. Throws StartError when it is none.
Recording read_recording(const std::string& path);

}  // namespace slotfuzz
