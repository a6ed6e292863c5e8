// Replacements for libc functions in builds without ASan, so that a subject that is not
// instrumented shows its memory bugs. free() poisons a block and quarantines it for a while. A
// program that loads a pointer from freed memory then faults instead of reading the old value.
//
// A block that leaves the quarantine goes to a free list for its size, and malloc() takes blocks
// from there. glibc's own cache holds seven blocks of a size, too few for a quarantine
// of a thousand.
//
// backtrace() returns no frames: PyTorch symbolises a backtrace for every C++ exception. That takes
// 0.4 to 3 ms, as long as a thousand program lines.
#ifdef SLOTFUZZ_POISON

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void __libc_free(void* block);

namespace {

// CPython's debug allocator fills freed memory with this byte; no valid address begins with it.
constexpr int kPoison = 0xDD;
constexpr std::uint64_t kPoisonWord = 0xDDDDDDDDDDDDDDDD;
// Objects are small; poisoning more bytes would cost more time than it finds bugs.
constexpr std::size_t kPoisonBytesMax = 1024;
constexpr std::size_t kQuarantineMax = 1024;

// glibc's blocks have 24, 40, 56, .. usable bytes.
constexpr std::size_t kBytesMin = 24;
constexpr std::size_t kBytesStep = 16;
constexpr std::size_t kSizes = (kPoisonBytesMax - kBytesMin) / kBytesStep + 1;

// The largest size class that a block of this many bytes can serve.
constexpr std::size_t size_of_block(std::size_t bytes) { return (bytes - kBytesMin) / kBytesStep; }
// The smallest size class with at least this many bytes.
constexpr std::size_t size_for(std::size_t bytes) {
  return bytes <= kBytesMin ? 0 : (bytes - kBytesMin + kBytesStep - 1) / kBytesStep;
}

struct Freed {
  void* block;
  std::size_t size;
};

// A ring of quarantined blocks, and free lists of blocks that left it. Each thread has one, so it
// needs no lock. It is constant-initialised, since free() runs before any constructor.
struct Quarantine {
  Freed ring[kQuarantineMax];
  std::size_t next;
  // The first block of each size class; a block's first word points to the next block.
  void* lists[kSizes];
};
thread_local constinit Quarantine quarantine{};

// Detects a double free: a poisoned block that is still in the quarantine.
void check_freed_once(const void* block) {
  std::uint64_t words[2];
  std::memcpy(words, block, sizeof words);
  if (words[0] != kPoisonWord || words[1] != kPoisonWord) return;
  for (const Freed& freed : quarantine.ring) {
    if (freed.block != block) continue;
    std::fputs("free(): a block is freed twice\n", stderr);
    std::abort();
  }
}

}  // namespace

extern "C" void* malloc(std::size_t bytes) {
  const std::size_t size = size_for(bytes);
  if (size >= kSizes || !quarantine.lists[size]) return __libc_malloc(bytes);
  void* block = quarantine.lists[size];
  std::memcpy(&quarantine.lists[size], block, sizeof(void*));
  return block;
}

extern "C" void free(void* block) {
  if (!block) return;
  const std::size_t bytes = malloc_usable_size(block);
  if (bytes > kPoisonBytesMax) {
    std::memset(block, kPoison, kPoisonBytesMax);
    return __libc_free(block);
  }
  check_freed_once(block);
  std::memset(block, kPoison, bytes);
  Freed& place = quarantine.ring[quarantine.next++ % kQuarantineMax];
  const Freed waited = std::exchange(place, {block, size_of_block(bytes)});
  if (!waited.block) return;
  std::memcpy(waited.block, &quarantine.lists[waited.size], sizeof(void*));
  quarantine.lists[waited.size] = waited.block;
}

extern "C" int backtrace(void**, int) { return 0; }

#endif  // SLOTFUZZ_POISON
