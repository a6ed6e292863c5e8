// Allocator: where a storage gets its bytes.
#pragma once

#include <cstddef>
#include <stdexcept>

#include "core/c10/data_ptr.h"

namespace slotcore {

// The allocator cannot supply the bytes. As in torch, this is a runtime_error and not a bad_alloc.
class AllocationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Allocator {
 public:
  // The largest size of one allocation. AddressSanitizer and libFuzzer end the process for much
  // larger ones; below this limit an absurd size is an ordinary error. The limit also bounds the
  // time of a line that touches every byte, so that no such line looks like a hang. Broadcasting
  // multiplies sizes.
  static constexpr size_t kBytesMax = size_t{1} << 26;

  // Zero-filled bytes; null data for 0. Throws AllocationError.
  virtual DataPtr allocate(size_t nbytes) = 0;

 protected:
  ~Allocator() = default;
};

// The heap. Never destroyed.
Allocator* default_allocator() noexcept;

}  // namespace slotcore
