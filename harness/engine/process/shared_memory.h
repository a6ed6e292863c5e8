// Memory that a child shares with its parent.
#pragma once

#include <cstddef>
#include <type_traits>

namespace slotfuzz {

// It starts as zeros.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // The memory as an array of T. The size must suffice for one.
  template <typename T>
  T* as() const {
    static_assert(std::is_trivially_copyable_v<T>);
    return static_cast<T*>(memory_);
  }

 private:
  const std::size_t bytes_;
  void* const memory_;
};

}  // namespace slotfuzz
