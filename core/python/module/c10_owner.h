// A C++ owner of an impl as an object of Python, whose reference other threads release, copy and
// lock. Those threads run no Python.
#pragma once

#include <cstdint>
#include <memory>

#include "core/c10/intrusive_ptr.h"

namespace slotcore {

class OwnerThread;

// A C++ owner of an impl, which can release the impl on a thread without Python. While a thread
// works with the owner, operations that would change it wait for that thread first.
class OwnerHandle {
 public:
  // Locks the impl at this address; std::runtime_error if it is gone.
  explicit OwnerHandle(uintptr_t handle);
  ~OwnerHandle();
  OwnerHandle(const OwnerHandle&) = delete;
  OwnerHandle& operator=(const OwnerHandle&) = delete;

  uint32_t use_count() const { return owner_.use_count(); }
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(owner_.get()); }
  void drop();
  void drop_on_thread();
  // A thread holds a lock and releases, while this thread holds the GIL and waits for that lock.
  void drop_under_lock();
  // Static destructors run after the interpreter has ended.
  void drop_at_exit();
  // This owner stays; the thread gets a copy.
  void start_copying();
  // The thread gets the only owner.
  void start_locking();
  // The thread continues while the interpreter ends; a static destructor joins it.
  void lock_until_exit();
  void join();

 private:
  intrusive_ptr<intrusive_ptr_target> owner_;
  std::unique_ptr<OwnerThread> thread_;
};

}  // namespace slotcore
