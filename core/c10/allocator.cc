// The default allocator: calloc and free, so that a sanitizer sees every storage as one block.

#include "core/c10/allocator.h"

#include <cstdlib>
#include <string>

#include "core/c10/live_counts.h"

namespace slotcore {
namespace {

class CpuAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t nbytes) override {
    if (nbytes == 0) return DataPtr();
    void* bytes = nbytes > kBytesMax ? nullptr : std::calloc(1, nbytes);
    if (bytes == nullptr) {
      throw AllocationError("cannot allocate " + std::to_string(nbytes) +
                            " bytes for a storage (the limit is " + std::to_string(kBytesMax) +
                            ")");
    }
    live_blocks.add();
    return DataPtr(bytes, bytes, [](void* context) noexcept {
      live_blocks.remove();
      std::free(context);
    });
  }
};

constinit CpuAllocator cpu_allocator;

}  // namespace

Allocator* default_allocator() noexcept { return &cpu_allocator; }

}  // namespace slotcore
