// Probes what the subject can do, in a child, so that a probe changes nothing in the process that
// runs programs. An earlier interpreter, a type in use, or an object at some address would
// otherwise influence every program, and no script would contain it.
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>

namespace slotfuzz {

// Memory that a child shares with its parent; it starts as zeros.
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

// Runs `probe` in a child and waits for it. CPython must run. Returns the child's wait status: 0
// when `probe` returned, SIGALRM when it took longer than a minute.
int status_of_child(const std::function<void()>& probe);

}  // namespace slotfuzz
