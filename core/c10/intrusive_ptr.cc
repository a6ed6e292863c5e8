// Code that both protocols share: the queue of releases, and the destruction of a target. See
// Note [Releases do not recurse].

#include "core/c10/intrusive_ptr.h"

#include "core/c10/check.h"
#include "core/c10/impl/preservation.h"

namespace slotcore {

using impl::preservation::Access;

namespace detail {

// Lives on the stack of the outermost release; nested releases find it in a thread-local.
class ReleaseQueue {
 public:
  static void submit(intrusive_ptr_target* target) noexcept {
    if (current != nullptr) return current->push(target);
    ReleaseQueue queue;
    current = &queue;
    for (; target != nullptr; target = queue.pop()) impl::preservation::settle(target);
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

  intrusive_ptr_target* head_ = nullptr;
  intrusive_ptr_target* tail_ = nullptr;
};

constinit thread_local ReleaseQueue* ReleaseQueue::current = nullptr;

}  // namespace detail

void Access::submit(intrusive_ptr_target* target) noexcept { detail::ReleaseQueue::submit(target); }

intrusive_ptr_target::~intrusive_ptr_target() {
  // A constructor that throws gets here with a count of 1.
  SLOTCORE_CHECK(count_.strong() <= 1);
}

ReleaseBoundary::ReleaseBoundary() noexcept
    : suspended_(std::exchange(detail::ReleaseQueue::current, nullptr)) {}

ReleaseBoundary::~ReleaseBoundary() { detail::ReleaseQueue::current = suspended_; }

namespace raw {

void weak_incref(intrusive_ptr_target* target) noexcept { Access::count(target).weak_incref(); }

void weak_decref(intrusive_ptr_target* target) noexcept {
  if (Access::count(target).weak_decref()) Access::free(target);
}

bool release_if_unique(intrusive_ptr_target* target) noexcept {
  return Access::count(target).expire_if_unique();
}

void release_owned(intrusive_ptr_target* target) noexcept { Access::release_owned(target); }

void destroy_expired(intrusive_ptr_target* target) noexcept {
  SLOTCORE_CHECK(use_count(target) == 0);
  Access::submit(target);
}

bool is_unescaped(const intrusive_ptr_target* target) noexcept {
  return Access::count(target).unescaped();
}

uint32_t weak_count(const intrusive_ptr_target* target) noexcept {
  uint32_t weak = Access::count(target).weak();
  return use_count(target) == 0 ? weak : weak - 1;
}

uint32_t use_count(const intrusive_ptr_target* target) noexcept {
  return Access::count(target).strong();
}

}  // namespace raw
}  // namespace slotcore
