// intrusive_ptr and weak_intrusive_ptr: reference counts that live inside the object.
//
// An intrusive_ptr_target has two counts. While strong > 0 the strong owners together hold one weak
// reference, so the memory stays as long as there is a reference of either kind. At strong == 0 the
// target expires for good (P4) and release_resources() runs; at weak == 0 the memory is freed.
//
// Two protocols define how the wrapper and C++ owners keep each other alive. Each is one file
// behind preservation.h.
//
// Note [Releases do not recurse]
// Destroying a target releases what it owns, and a chain may have a million links (P6). So the
// outermost release of a thread keeps a queue. A nested release that finds the last reference only
// enqueues the target. The outermost release drains the queue before it returns, so the caller sees
// no difference. User code, such as `__del__`, must not see the delay either: a ReleaseBoundary
// around it starts a new queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/c10/impl/protocol/combined_count.h"
#include "core/c10/impl/py_object_slot.h"

namespace slotcore {

class intrusive_ptr_target;

namespace impl::preservation {
struct Access;
}

// Operations on bare pointers, for code that stores references in another form: the wrapper, and
// the int handles of `_weak_ref`. Each function says what it does to the counts.
namespace raw {
void incref(intrusive_ptr_target* target) noexcept;       // strong + 1; the caller has one already
void decref(intrusive_ptr_target* target) noexcept;       // strong - 1
void weak_incref(intrusive_ptr_target* target) noexcept;  // weak + 1
void weak_decref(intrusive_ptr_target* target) noexcept;  // weak - 1
// strong + 1 unless the target is dead or dying; returns whether it was incremented. The caller has
// a weak reference.
[[nodiscard]] bool try_lock(intrusive_ptr_target* target) noexcept;
// strong 1 -> 0, atomically; false when there is another owner. After true the target has expired,
// no thread can lock it any more, and the caller must pass it to destroy_expired().
[[nodiscard]] bool release_if_unique(intrusive_ptr_target* target) noexcept;
void destroy_expired(intrusive_ptr_target* target) noexcept;
// Releases what the target owns, before it expires: the collector has found its only owner to be
// garbage, and what it owns leads back to that owner.
void release_owned(intrusive_ptr_target* target) noexcept;
uint32_t use_count(const intrusive_ptr_target* target) noexcept;
// Whether the caller's strong reference is the only reference, weak ones included: then no other
// thread can reach the target.
bool is_unescaped(const intrusive_ptr_target* target) noexcept;
// Weak references, without the one that all strong owners have together.
uint32_t weak_count(const intrusive_ptr_target* target) noexcept;
}  // namespace raw

namespace detail {
class ReleaseQueue;
}

class intrusive_ptr_target {
 public:
  intrusive_ptr_target() noexcept = default;
  intrusive_ptr_target(const intrusive_ptr_target&) = delete;
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) = delete;

  // For the walk of a collector: the number of the latest walk that found this target to be owned
  // by one wrapper alone. Only that walk's thread touches it, because nobody else has the target.
  uint64_t walk_number() const noexcept { return walk_number_; }
  void set_walk_number(uint64_t number) noexcept { walk_number_ = number; }

  // The slot, for types that have one according to their TargetTraits.
  virtual impl::PyObjectSlot* pyobj_slot() noexcept { return nullptr; }

 protected:
  virtual ~intrusive_ptr_target();

  // Releases what the target owns. Runs when the strong count has reached 0, also when weak
  // references keep the memory, and before if raw::release_owned() is called. The target must stay
  // destructible.
  virtual void release_resources() noexcept {}

 private:
  friend class detail::ReleaseQueue;
  friend struct impl::preservation::Access;

  impl::protocol::CombinedCount<impl::protocol::StdPolicy> count_;
  // The queue of Note [Releases do not recurse]. Only the thread that saw the count at 1 while it
  // held that reference enqueues the target, so a target is in at most one queue.
  intrusive_ptr_target* next_released_ = nullptr;
  uint64_t walk_number_ = 0;
};

// Placed around user code that runs inside a release: releases in that code are outermost ones.
class ReleaseBoundary {
 public:
  ReleaseBoundary() noexcept;
  ~ReleaseBoundary();
  ReleaseBoundary(const ReleaseBoundary&) = delete;
  ReleaseBoundary& operator=(const ReleaseBoundary&) = delete;

 private:
  detail::ReleaseQueue* suspended_;
};

template <class T>
class weak_intrusive_ptr;

// A strong reference, or null.
template <class T>
class intrusive_ptr {
 public:
  using element_type = T;

  constexpr intrusive_ptr() noexcept = default;
  constexpr intrusive_ptr(std::nullptr_t) noexcept {}
  intrusive_ptr(const intrusive_ptr& other) noexcept : target_(other.target_) {
    if (target_ != nullptr) raw::incref(target_);
  }
  intrusive_ptr(intrusive_ptr&& other) noexcept : target_(other.release()) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  intrusive_ptr(intrusive_ptr<U> other) noexcept : target_(other.release()) {}
  ~intrusive_ptr() { reset(); }

  // By value: the old target is released last, when this already holds the new one.
  intrusive_ptr& operator=(intrusive_ptr other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }

  // Takes over a reference that release() returned.
  static intrusive_ptr reclaim(T* target) noexcept {
    intrusive_ptr result;
    result.target_ = target;
    return result;
  }
  // Adds a reference to a target that another owner keeps alive.
  static intrusive_ptr retain(T* target) noexcept {
    if (target != nullptr) raw::incref(target);
    return reclaim(target);
  }
  [[nodiscard]] T* release() noexcept { return std::exchange(target_, nullptr); }
  void reset() noexcept {
    if (T* target = release(); target != nullptr) raw::decref(target);
  }

  // If this is the only reference, destroys the target and returns true; else changes nothing.
  [[nodiscard]] bool release_if_unique() noexcept {
    if (target_ == nullptr || !raw::release_if_unique(target_)) return false;
    raw::destroy_expired(release());
    return true;
  }

  T* get() const noexcept { return target_; }
  T& operator*() const noexcept { return *target_; }
  T* operator->() const noexcept { return target_; }
  explicit operator bool() const noexcept { return target_ != nullptr; }
  bool operator==(const intrusive_ptr& other) const noexcept { return target_ == other.target_; }

  uint32_t use_count() const noexcept { return target_ == nullptr ? 0 : raw::use_count(target_); }

 private:
  T* target_ = nullptr;
};

template <class T, class... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return intrusive_ptr<T>::reclaim(new T(std::forward<Args>(args)...));
}

// A reference that keeps the memory of the target, but not the target itself, alive.
template <class T>
class weak_intrusive_ptr {
 public:
  explicit weak_intrusive_ptr(const intrusive_ptr<T>& strong) noexcept : target_(strong.get()) {
    if (target_ != nullptr) raw::weak_incref(target_);
  }
  weak_intrusive_ptr(const weak_intrusive_ptr& other) noexcept : target_(other.target_) {
    if (target_ != nullptr) raw::weak_incref(target_);
  }
  weak_intrusive_ptr(weak_intrusive_ptr&& other) noexcept
      : target_(std::exchange(other.target_, nullptr)) {}
  ~weak_intrusive_ptr() {
    if (target_ != nullptr) raw::weak_decref(target_);
  }
  weak_intrusive_ptr& operator=(weak_intrusive_ptr other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }

  // A strong reference, or null when the target has expired.
  intrusive_ptr<T> lock() const noexcept {
    if (target_ == nullptr || !raw::try_lock(target_)) return nullptr;
    return intrusive_ptr<T>::reclaim(target_);
  }
  // Never goes from true to false (P4).
  bool expired() const noexcept { return use_count() == 0; }
  // Strong references of the target.
  uint32_t use_count() const noexcept { return target_ == nullptr ? 0 : raw::use_count(target_); }

  // Whether both refer to the same target, dead or alive: while either exists, the address is not
  // used again.
  bool operator==(const weak_intrusive_ptr& other) const noexcept {
    return target_ == other.target_;
  }

  // Converts the reference to a bare pointer for a handle, and back.
  [[nodiscard]] T* release() noexcept { return std::exchange(target_, nullptr); }
  static weak_intrusive_ptr reclaim(T* target) noexcept { return weak_intrusive_ptr(target); }

 private:
  explicit weak_intrusive_ptr(T* owned) noexcept : target_(owned) {}

  T* target_;
};

}  // namespace slotcore
