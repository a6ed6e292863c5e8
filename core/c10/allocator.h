// Allocator: where a storage gets its bytes.
#pragma once

#include <cstddef>
#include <stdexcept>

#include "core/c10/data_ptr.h"

namespace slotcore {

// The bytes are not to be had. A runtime_error, as in torch, and not a bad_alloc.
class AllocationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Allocator {
 public:
  // The most that one allocation may ask for. Below what AddressSanitizer and libFuzzer treat as a
  // crash of the process, so that an absurd size is an error like any other; and so little that a
  // line over all of it takes no time that looks like a hang. Broadcasting multiplies sizes.
  static constexpr size_t kBytesMax = size_t{1} << 26;

  // Zero-filled bytes; null data for 0. Throws AllocationError.
  virtual DataPtr allocate(size_t nbytes) = 0;

 protected:
  ~Allocator() = default;
};

// The heap. Lives for ever.
Allocator* default_allocator() noexcept;

}  // namespace slotcore
