// Trying what the subject can do, in a child: what is tried leaves no trace in the process that
// runs programs. An interpreter that was there once, a type that was used first, or an object at
// an address would be part of every program, and of no script.
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>

namespace slotfuzz {

// Memory that a child shares with its parent; zero at first.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // As an array of T, which the size must be enough for.
  template <typename T>
  T* as() const {
    static_assert(std::is_trivially_copyable_v<T>);
    return static_cast<T*>(memory_);
  }

 private:
  const std::size_t bytes_;
  void* const memory_;
};

// Runs `probe` in a child and waits for it. False when the child died, or was ended because it took
// longer than a minute.
bool ran_in_child(const std::function<void()>& probe);

}  // namespace slotfuzz
