// What the process replaces of libc where no sanitizer watches over memory, so that a subject that
// is not instrumented shows its bugs: freed memory is poisoned, and kept from being used again for
// a while. A pointer that is read from it then faults, instead of finding what was there before.
//
// A block that has waited goes to a list of its size, and malloc() takes it from there: glibc's own
// cache holds seven blocks of a size, and what is freed a thousand blocks late does not fit in.
//
// backtrace() gives nothing: PyTorch symbolises one for every C++ exception, 0.4 to 3 ms each,
// which is a thousand lines of a program.
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

// As CPython's debug allocator fills freed memory; no valid address begins like this.
constexpr int kPoison = 0xDD;
constexpr std::uint64_t kPoisonWord = 0xDDDDDDDDDDDDDDDD;
// Objects are small; filling more would cost more than it finds.
constexpr std::size_t kPoisonBytesMax = 1024;
constexpr std::size_t kQuarantineMax = 1024;

// glibc's blocks have 24, 40, 56, .. bytes.
constexpr std::size_t kBytesMin = 24;
constexpr std::size_t kBytesStep = 16;
constexpr std::size_t kSizes = (kPoisonBytesMax - kBytesMin) / kBytesStep + 1;

// The largest size that a block of so many bytes can serve.
constexpr std::size_t size_of_block(std::size_t bytes) { return (bytes - kBytesMin) / kBytesStep; }
// The smallest size that has so many bytes.
constexpr std::size_t size_for(std::size_t bytes) {
  return bytes <= kBytesMin ? 0 : (bytes - kBytesMin + kBytesStep - 1) / kBytesStep;
}

struct Freed {
  void* block;
  std::size_t size;
};

// A ring of blocks that wait, and lists of those that have waited. One per thread: no lock, and
// constant-initialised, since free() runs before any constructor.
struct Quarantine {
  Freed ring[kQuarantineMax];
  std::size_t next;
  // The first of each size; a block's first word leads to the next.
  void* lists[kSizes];
};
thread_local constinit Quarantine quarantine{};

// A block that is poisoned as it is freed has been freed before, if it still waits.
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
