// The recorder's file: a header and a ring of slots.
#include "harness/engine/session/recorder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>

#include "harness/engine/run/interpreter.h"

namespace slotfuzz {
namespace {

constexpr std::uint64_t kMagic = 0x736c6f7466757a7a;  // "slotfuzz"

struct Slot {
  std::uint32_t size;
  char text[kRecorderSlotBytes - sizeof(std::uint32_t)];
};

}  // namespace

struct Recorder::File {
  std::uint64_t magic;
  // Programs written since the file was created; the next goes to slot `count % kRecorderSlots`.
  std::uint64_t count;
  Slot slots[kRecorderSlots];
};

Recorder::Recorder(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) throw StartError(path + ": " + std::strerror(errno));
  // Reserves disk blocks now: a full disk must be an error here and not a SIGBUS later.
  const int full = posix_fallocate(descriptor, 0, sizeof(File));
  void* memory =
      full ? MAP_FAILED
           : mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  const int error = full ? full : errno;
  close(descriptor);
  if (memory == MAP_FAILED) throw StartError(path + ": " + std::strerror(error));
  file_ = static_cast<File*>(memory);
  file_->magic = kMagic;
  file_->count = 0;
}

Recorder::~Recorder() { munmap(file_, sizeof(File)); }

void Recorder::write(std::string_view program) {
  Slot& slot = file_->slots[file_->count % kRecorderSlots];
  slot.size = static_cast<std::uint32_t>(std::min(program.size(), sizeof(slot.text)));
  std::memcpy(slot.text, program.data(), slot.size);
  ++file_->count;
}

Recording read_recording(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::uint64_t magic = 0, count = 0;
  stream.read(reinterpret_cast<char*>(&magic), sizeof magic);
  stream.read(reinterpret_cast<char*>(&count), sizeof count);
  const auto slots = std::make_unique<Slot[]>(kRecorderSlots);
  stream.read(reinterpret_cast<char*>(slots.get()), sizeof(Slot) * kRecorderSlots);
  if (!stream || magic != kMagic) throw StartError(path + ": not a flight recorder's file");
  std::vector<std::string> programs;
  for (std::uint64_t i = count - std::min<std::uint64_t>(count, kRecorderSlots); i < count; ++i) {
    const Slot& slot = slots[i % kRecorderSlots];
    programs.emplace_back(slot.text, std::min<std::size_t>(slot.size, sizeof(slot.text)));
  }
  return {count, programs};
}

}  // namespace slotfuzz
