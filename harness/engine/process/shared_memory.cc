// An anonymous mapping.
#include "harness/engine/process/shared_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "harness/engine/check.h"

namespace slotfuzz {

SharedMemory::SharedMemory(std::size_t bytes)
    : bytes_(bytes),
      memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
  CHECK(memory_ != MAP_FAILED, "mmap: " << std::strerror(errno));
}

SharedMemory::~SharedMemory() { munmap(memory_, bytes_); }

}  // namespace slotfuzz
