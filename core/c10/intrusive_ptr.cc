// The slow half of a release: the last reference is handed over or the target is destroyed, without
// recursion. See Note [Handing over] and Note [Releases do not recurse].

#include "core/c10/intrusive_ptr.h"

#include "core/c10/check.h"

namespace slotcore {

namespace detail {

// Lives on the stack of the outermost release; nested ones find it through the thread.
class ReleaseQueue {
 public:
  // Works on `target` now, or leaves it to the outermost release of this thread. A target with a
  // count of 0 has expired and is to be destroyed; any other is to be handed over.
  static void submit(intrusive_ptr_target* target) noexcept {
    if (current != nullptr) return current->push(target);
    ReleaseQueue queue;
    current = &queue;
    for (; target != nullptr; target = queue.pop()) process(target);
    current = nullptr;
  }

  static constinit thread_local ReleaseQueue* current;

 private:
  void push(intrusive_ptr_target* target) noexcept {
    (head_ == nullptr ? head_ : tail_->next_released_) = target;
    tail_ = target;
  }

  intrusive_ptr_target* pop() noexcept {
    intrusive_ptr_target* target = head_;
    if (target != nullptr) head_ = std::exchange(target->next_released_, nullptr);
    return target;
  }

  static void process(intrusive_ptr_target* target) noexcept {
    if (raw::use_count(target) == 0 || !hand_over(target)) destroy(target);
  }

  // Gives the reference that came with `target` to its wrapper, or drops it. False when the drop
  // took the count to 0 and the target must be destroyed.
  static bool hand_over(intrusive_ptr_target* target) noexcept {
    impl::PyObjectSlot* slot = target->pyobj_slot();
    bool disarmed = false;
    // Acquire: as in raw::decref.
    uint32_t count = target->strong_.load(std::memory_order_acquire);
    while (true) {
      if (count == 1 && slot->owns_pyobj() && !disarmed) {
        switch ((*slot->pyobj_interpreter())->hand_over(target, slot)) {
          case impl::HandOver::kDone:
            return true;
          case impl::HandOver::kNotOwned:
            break;
          case impl::HandOver::kDisarmed:
            disarmed = true;
            break;
        }
        count = target->strong_.load(std::memory_order_acquire);
        continue;
      }
      // Release for those that come after, acquire for the destruction when we are the last.
      if (target->strong_.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel,
                                                std::memory_order_acquire)) {
        return count > 1;
      }
    }
  }

  // The weak reference of the strong owners is given up only after release_resources: until then
  // nobody else's last weak reference may free the memory.
  static void destroy(intrusive_ptr_target* target) noexcept {
    target->release_resources();
    raw::weak_decref(target);
  }

  intrusive_ptr_target* head_ = nullptr;
  intrusive_ptr_target* tail_ = nullptr;
};

constinit thread_local ReleaseQueue* ReleaseQueue::current = nullptr;

void release_last(intrusive_ptr_target* target, bool can_have_pyobject) noexcept {
  // Acquire: as in raw::decref.
  uint32_t count = target->strong_.load(std::memory_order_acquire);
  while (true) {
    SLOTCORE_CHECK(count > 0);
    if (count == 1 && can_have_pyobject) {
      impl::PyObjectSlot* slot = target->pyobj_slot();
      if (slot != nullptr && slot->owns_pyobj()) return ReleaseQueue::submit(target);
    }
    // Release for those that come after, acquire for the destruction when we are the last.
    if (target->strong_.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel,
                                              std::memory_order_acquire)) {
      break;
    }
  }
  if (count == 1) ReleaseQueue::submit(target);
}

}  // namespace detail

intrusive_ptr_target::~intrusive_ptr_target() {
  // Acquire pairs with the releases of the counts. A constructor that throws ends here with 1.
  SLOTCORE_CHECK(strong_.load(std::memory_order_acquire) <= 1);
}

ReleaseBoundary::ReleaseBoundary() noexcept
    : suspended_(std::exchange(detail::ReleaseQueue::current, nullptr)) {}

ReleaseBoundary::~ReleaseBoundary() { detail::ReleaseQueue::current = suspended_; }

namespace raw {

void weak_decref(intrusive_ptr_target* target) noexcept {
  // Release: what this thread did to the target comes before its memory is freed. Acquire: the
  // thread that frees it sees all of that.
  if (target->weak_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete target;
}

bool try_lock(intrusive_ptr_target* target) noexcept {
  // Acquire on success: the new owner sees what a former one released with its own reference.
  uint32_t count = target->strong_.load(std::memory_order_relaxed);
  do {
    if (count == 0) return false;
  } while (!target->strong_.compare_exchange_weak(count, count + 1, std::memory_order_acquire,
                                                  std::memory_order_relaxed));
  return true;
}

bool release_if_unique(intrusive_ptr_target* target) noexcept {
  uint32_t one = 1;
  // Acquire: the caller destroys what others used. Release: a later failing lock is ordered after.
  return target->strong_.compare_exchange_strong(one, 0, std::memory_order_acq_rel,
                                                 std::memory_order_relaxed);
}

void destroy_expired(intrusive_ptr_target* target) noexcept {
  SLOTCORE_CHECK(use_count(target) == 0);
  detail::ReleaseQueue::submit(target);
}

}  // namespace raw
}  // namespace slotcore
