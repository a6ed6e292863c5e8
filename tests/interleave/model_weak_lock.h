// Weak locks against the death of the wrapper, with faults to choose. Written from the protocol's
// description alone, so that it tests the engine and not the core.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/interleave/model/model_policy.h"
#include "tests/interleave/memory_orders.h"

namespace slotfuzz::interleave {

enum class WeakLockFault {
  kNone,
  kForgetsFixUp,      // the reference is not released when another locker came first
  kTakesNoReference,  // strong goes from 1 to 2 without one
  kNoGil,             // while the Python reference is taken
  kSlotNotCleared,    // before the wrapper's strong reference is dropped
  kNoRelease,         // of a strong reference
  kSecondLook,        // decides by a load after the decrement whether it was the last
};

// One GIL. Combined count 1 strong (the wrapper's), 1 + k weak, the bit set. Thread 0 releases the
// last Python reference; each other thread locks its weak reference, uses the resources, releases.
//
// The counts 8, 1,386 and 5,853,918 follow from this reading of the description. Thread 0 holds the
// GIL from its py-count decrement until the wrapper is freed. The order of locks is in the graph.
// The thread that takes strong from 2 to 1 with the bit set releases the Python reference in a
// separate GIL section, in which the last decrement frees the wrapper. The compare-exchange of the
// Python count loops under the GIL. A lock that fails after its compare-exchange looks at the value
// that it failed with, and takes the Python reference at most once.
template <class P>
class WeakLock {
 public:
  explicit WeakLock(int lockers, WeakLockFault fault = WeakLockFault::kNone)
      : fault_(fault), count_(kBit | kStrongOne | kWeakOne * static_cast<uint64_t>(1 + lockers)) {
    wrapper_.emplace();
    impl_.emplace();
    if constexpr (requires { P::name(count_, "count"); }) {
      P::name(count_, "count");
      P::name(gil_, "gil");
      P::name(impl_->slot, "slot");
      P::name(impl_->resources, "resources");
      P::name(wrapper_->references, "py count");
      P::name(wrapper_->body, "body");
    }
  }

  void run(int thread) {
    if (thread == 0) {
      drop_python_reference();
    } else {
      if (lock()) {
        P::check(impl_->resources.load() == 1, "", "who locks finds the resources");
        drop_strong();
      }
      drop_weak();
    }
  }

  void finish() {
    P::check(!wrapper_.has_value(), "", "the wrapper is freed");
    P::check(!impl_.has_value(), "", "the impl is freed");
  }

 private:
  static constexpr uint64_t kStrongOne = 1;
  static constexpr uint64_t kWeakOne = uint64_t{1} << 32;
  static constexpr uint64_t kBit = uint64_t{1} << 63;
  static uint32_t strong_of(uint64_t word) { return static_cast<uint32_t>(word); }
  static uint32_t weak_of(uint64_t word) { return static_cast<uint32_t>((word & ~kBit) >> 32); }

  struct Wrapper {
    typename P::template atomic<int> references{1};
    typename P::template var<int> body{1};
  };
  struct Impl {
    typename P::template atomic<int> slot{1};
    typename P::template var<int> resources{1};
  };

  // The caller holds the GIL; at zero it is held until the wrapper is freed.
  void drop_python_reference() {
    gil_.lock();
    if (wrapper_->references.fetch_sub(1, kAcqRel) == 1) {
      wrapper_->body.store(0);
      if (fault_ != WeakLockFault::kSlotNotCleared) impl_->slot.store(0, kRelease);
      drop_strong_of_wrapper();
      wrapper_.reset();
    }
    gil_.unlock();
  }

  bool try_incref() {
    const bool locks = fault_ != WeakLockFault::kNoGil;
    if (locks) gil_.lock();
    bool taken = false;
    if (impl_->slot.load(kAcquire) != 0) {
      int references = wrapper_->references.load(kRelaxed);
      while (references > 0 && !taken) {
        taken = wrapper_->references.compare_exchange_weak(references, references + 1, kRelaxed,
                                                           kRelaxed);
      }
    }
    if (locks) gil_.unlock();
    return taken;
  }

  bool lock() {
    bool increfed = false;
    uint64_t word = count_.load(kRelaxed);
    do {
      if (strong_of(word) == 0) return false;
      if (strong_of(word) == 1 && !increfed && fault_ != WeakLockFault::kTakesNoReference) {
        if (!try_incref()) return false;
        increfed = true;
      }
    } while (!count_.compare_exchange_weak(word, word + kStrongOne, kAcquire, kRelaxed));
    if (increfed && strong_of(word) != 1 && fault_ != WeakLockFault::kForgetsFixUp) {
      drop_python_reference();
    }
    return true;
  }

  void drop_strong() {
    const bool releases = fault_ != WeakLockFault::kNoRelease;
    uint64_t before = count_.fetch_sub(kStrongOne, releases ? kAcqRel : kAcquire);
    if (fault_ == WeakLockFault::kSecondLook) before = count_.load(kAcquire) + kStrongOne;
    if (strong_of(before) == 1) expire();
    if (strong_of(before) == 2) drop_python_reference();
  }

  void drop_strong_of_wrapper() {
    const uint64_t before = count_.fetch_sub(kStrongOne, kAcqRel);
    if (strong_of(before) == 1) expire();
  }

  void expire() {
    impl_->resources.store(0);
    drop_weak();
  }

  void drop_weak() {
    if (weak_of(count_.fetch_sub(kWeakOne, kAcqRel)) == 1) impl_.reset();
  }

  WeakLockFault fault_;
  typename P::mutex gil_;
  typename P::template atomic<uint64_t> count_;
  std::optional<Wrapper> wrapper_;
  std::optional<Impl> impl_;
};

}  // namespace slotfuzz::interleave
