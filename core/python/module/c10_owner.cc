// The threads, and the waits for them without the GIL.

#include "core/python/module/c10_owner.h"

#include <pybind11/pybind11.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace slotcore {

using Owner = intrusive_ptr<intrusive_ptr_target>;

// A C++ thread that never ran Python and repeats one operation on an owner until join().
class OwnerThread {
 public:
  // False when the operation is no longer possible.
  using Round = bool (*)(Owner& owner);

  // Returns after the thread has started.
  OwnerThread(Owner owner, Round round)
      : owner_(std::move(owner)), thread_([this, round] {
          begun_.store(true, std::memory_order_release);  // pairs with the constructor
          // Relaxed: a stop flag; the thread reads nothing that was written before it.
          while (round(owner_) && !over_.load(std::memory_order_relaxed)) std::this_thread::yield();
        }) {
    // Acquire: pairs with the store above.
    while (!begun_.load(std::memory_order_acquire)) std::this_thread::yield();
  }
  OwnerThread(const OwnerThread&) = delete;
  OwnerThread& operator=(const OwnerThread&) = delete;
  ~OwnerThread() { join(); }

  // Ends the thread and returns its owner. Call without the GIL, which the thread may wait for.
  Owner join() {
    over_.store(true, std::memory_order_relaxed);  // pairs with the loop; join() orders the rest
    if (thread_.joinable()) thread_.join();
    return std::move(owner_);
  }

  // Makes a second owner, drops it and locks a weak reference: the counts change, never below 1.
  static bool copy(Owner& owner) {
    Owner copy = owner;
    weak_intrusive_ptr<intrusive_ptr_target> weak(copy);
    copy.reset();
    copy = weak.lock();
    return static_cast<bool>(owner);
  }
  // Releases its only owner and locks it again, unless the impl has died in between.
  static bool lock(Owner& owner) {
    weak_intrusive_ptr<intrusive_ptr_target> weak(owner);
    owner.reset();
    owner = weak.lock();
    return static_cast<bool>(owner);
  }

 private:
  Owner owner_;
  std::atomic<bool> begun_{false};
  std::atomic<bool> over_{false};
  // Last member: the thread uses those above.
  std::thread thread_;
};

OwnerHandle::OwnerHandle(uintptr_t handle) {
  auto* target = reinterpret_cast<intrusive_ptr_target*>(handle);
  if (target == nullptr || !raw::try_lock(target))
    throw std::runtime_error("there is nothing to own any more");
  owner_ = Owner::reclaim(target);
}

OwnerHandle::~OwnerHandle() { join(); }

void OwnerHandle::drop() {
  join();
  py::gil_scoped_release without_gil;
  owner_.reset();
}

void OwnerHandle::drop_on_thread() {
  join();
  py::gil_scoped_release without_gil;
  std::thread([this] { owner_.reset(); }).join();
}

void OwnerHandle::drop_under_lock() {
  join();
  std::mutex mutex;
  std::atomic<bool> locked{false};
  std::thread dropper([&] {
    std::lock_guard lock(mutex);
    locked.store(true, std::memory_order_release);  // pairs with the loop below
    owner_.reset();
  });
  // Acquire: pairs with the store above.
  while (!locked.load(std::memory_order_acquire)) std::this_thread::yield();
  mutex.lock();
  mutex.unlock();
  dropper.join();
}

void OwnerHandle::drop_at_exit() {
  join();
  static std::vector<Owner> kept;
  kept.push_back(std::move(owner_));
}

void OwnerHandle::start_copying() {
  join();
  if (owner_) thread_ = std::make_unique<OwnerThread>(owner_, &OwnerThread::copy);
}

void OwnerHandle::start_locking() {
  join();
  if (owner_) thread_ = std::make_unique<OwnerThread>(std::move(owner_), &OwnerThread::lock);
}

void OwnerHandle::lock_until_exit() {
  join();
  static std::vector<std::unique_ptr<OwnerThread>> kept;
  if (owner_) kept.push_back(std::make_unique<OwnerThread>(std::move(owner_), &OwnerThread::lock));
}

void OwnerHandle::join() {
  // Taken out under the GIL, so that only one caller joins.
  auto thread = std::move(thread_);
  if (thread == nullptr) return;
  Owner owner;
  {
    py::gil_scoped_release without_gil;
    owner = thread->join();
  }
  owner_ = std::move(owner);
}

}  // namespace slotcore
