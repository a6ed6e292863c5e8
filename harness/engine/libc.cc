// What the process replaces of libc where no sanitizer watches over memory, so that a subject that
// is not instrumented shows its bugs: freed memory is poisoned, and kept from being used again for
// a while. A pointer that is read from it then faults, instead of finding what was there before.
//
// backtrace() gives nothing: PyTorch symbolises one for every C++ exception, 0.4 to 3 ms each,
// which is a thousand lines of a program.
#ifdef SLOTFUZZ_POISON

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

extern "C" void __libc_free(void* block);

namespace {

// As CPython's debug allocator fills freed memory; no valid address begins like this.
constexpr int kPoison = 0xDD;
// Objects are small; filling more would cost more than it finds.
constexpr std::size_t kPoisonBytesMax = 1024;
constexpr std::size_t kQuarantineMax = 1024;

// One ring per thread: no lock, and constant-initialised, since free() runs before any constructor.
struct Quarantine {
  void* blocks[kQuarantineMax];
  std::size_t next;
};
thread_local constinit Quarantine quarantine{};

}  // namespace

extern "C" void free(void* block) {
  if (!block) return;
  const std::size_t bytes = malloc_usable_size(block);
  std::memset(block, kPoison, std::min(bytes, kPoisonBytesMax));
  if (bytes > kPoisonBytesMax) return __libc_free(block);
  std::swap(quarantine.blocks[quarantine.next++ % kQuarantineMax], block);
  if (block) __libc_free(block);
}

extern "C" int backtrace(void**, int) { return 0; }

#endif  // SLOTFUZZ_POISON
