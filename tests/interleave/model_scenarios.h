// The scenarios behind the golden counts, as separate templates: written from their description
// alone, so that they test the engine and not the core. Each one states how it reads the
// description.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "harness/interleave/model/model_policy.h"

namespace slotfuzz::interleave {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcqRel = std::memory_order_acq_rel;

// The fault in a claim; kNone is correct.
enum class ClaimFault { kNone, kNoRelease, kNoAcquire, kNoAcquireOnFailure, kCheckThenStore };

// N threads, each alone in its own interpreter: write own plain `name`; load the tag; if null,
// compare-exchange null -> me; the winner writes plain `pyobj`, loads the tag and reads `pyobj`; a
// loser reads the winner's `name`. Each holds its own GIL, which no other thread wants, so the GIL
// is left out. N * 2^(N-1) graphs: the winner, and for each loser whether its first load saw the
// tag.
template <class P>
class Claim {
 public:
  explicit Claim(int threads, ClaimFault fault = ClaimFault::kNone)
      : threads_(threads), fault_(fault) {
    for (int thread = 0; thread < threads; ++thread) names_[thread].emplace(0);
    if constexpr (requires { P::name(tag_, "tag"); }) {
      P::name(tag_, "tag");
      P::name(pyobj_, "pyobj");
      for (int thread = 0; thread < threads; ++thread) P::name(*names_[thread], "name");
    }
  }

  void run(int thread) {
    const int me = thread + 1;
    names_[thread]->store(me * 10);
    int tag = tag_.load(fault_ == ClaimFault::kNoAcquire ? kRelaxed : kAcquire);
    if (tag == 0 && claim(tag, me)) {
      pyobj_.store(me);
      P::check(tag_.load(kAcquire) == me, "the winner sees its tag");
      P::check(pyobj_.load() == me, "the winner sees its object");
      owner_seen_[thread] = me;
    } else {
      P::check(names_[tag - 1]->load() == tag * 10, "a loser can name the winner");
      owner_seen_[thread] = tag;
    }
  }

  void finish() {
    const int tag = tag_.load(kAcquire);
    P::check(tag != 0, "somebody wins");
    P::check(pyobj_.load() == tag, "the winner's object is in the slot");
    for (int thread = 0; thread < threads_; ++thread) {
      P::check(owner_seen_[thread] == tag, "all see the same winner");
    }
  }

 private:
  bool claim(int& tag, int me) {
    if (fault_ == ClaimFault::kCheckThenStore) {
      tag_.store(me, kRelease);
      return true;
    }
    return tag_.compare_exchange_strong(
        tag, me, fault_ == ClaimFault::kNoRelease ? kAcquire : kAcqRel,
        fault_ == ClaimFault::kNoAcquireOnFailure ? kRelaxed : kAcquire);
  }

  int threads_;
  ClaimFault fault_;
  typename P::template atomic<int> tag_{0};
  typename P::template var<int> pyobj_{0};
  std::optional<typename P::template var<int>> names_[kThreadsMax];
  int owner_seen_[kThreadsMax] = {};
};

// Thread 0 takes the GIL, stores the vtable word (release), writes plain `finalized`, and releases
// the GIL. Each destructor has its own slot with the owns bit: it reads `pyobj`, loads the tag
// (acquire) and the vtable (acquire); if alive, takes the GIL and loads the vtable again (relaxed);
// if alive, checks that it is not `finalized`, counts the decref, and releases the GIL; then it
// writes `pyobj` and frees the slot. The order of the sections is part of the graph: with M
// destructors of which k find the vtable alive there are C(M, k) * (k + 1)! graphs, so 3, 11, 49,
// 261 in all.
enum class DisarmFault { kNone, kAsksOnce, kNoGil, kDisarmsWithoutGil };

template <class P>
class Disarm {
 public:
  explicit Disarm(int destructors, DisarmFault fault = DisarmFault::kNone) : fault_(fault) {
    for (int i = 0; i < destructors; ++i) slots_[i].emplace();
    if constexpr (requires { P::name(vtable_, "vtable"); }) {
      P::name(vtable_, "vtable");
      P::name(gil_, "gil");
      P::name(finalized_, "finalized");
      P::name(decrefs_, "decrefs");
    }
  }

  void run(int thread) {
    if (thread == 0) {
      const bool locks = fault_ != DisarmFault::kDisarmsWithoutGil;
      if (locks) gil_.lock();
      vtable_.store(kDisarmed, kRelease);
      finalized_.store(true);
      if (locks) gil_.unlock();
    } else {
      destroy(thread - 1);
    }
  }

  void finish() { P::check(finalized_.load(), "the interpreter was disarmed"); }

 private:
  static constexpr int kAlive = 1;
  static constexpr int kDisarmed = 2;

  struct Slot {
    typename P::template var<int> pyobj{1};
    typename P::template atomic<int> tag{1};
  };

  void destroy(int i) {
    Slot& slot = *slots_[i];
    P::check(slot.pyobj.load() == 1, "the slot owns its object");
    P::check(slot.tag.load(kAcquire) == 1, "the slot is tagged");
    if (vtable_.load(kAcquire) == kAlive) {
      if (fault_ != DisarmFault::kNoGil) gil_.lock();
      if (fault_ == DisarmFault::kAsksOnce || vtable_.load(kRelaxed) == kAlive) {
        P::check(!finalized_.load(), "no decref after the interpreter was finalized");
        decrefs_.store(decrefs_.load() + 1);
      }
      if (fault_ != DisarmFault::kNoGil) gil_.unlock();
    }
    slot.pyobj.store(0);
    slots_[i].reset();
  }

  DisarmFault fault_;
  typename P::mutex gil_;
  typename P::template atomic<int> vtable_{kAlive};
  typename P::template var<bool> finalized_{false};
  typename P::template var<int> decrefs_{0};
  std::optional<Slot> slots_[kThreadsMax];
};

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
        P::check(impl_->resources.load() == 1, "who locks finds the resources");
        drop_strong();
      }
      drop_weak();
    }
  }

  void finish() {
    P::check(!wrapper_.has_value(), "the wrapper is freed");
    P::check(!impl_.has_value(), "the impl is freed");
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

// A thread makes a wrapper and sets its bit while another thread takes a second strong reference,
// and with it the impl's reference to the wrapper.
enum class BitFault { kNone, kNoFence, kNoRelease, kBitBeforeSlot, kBitBeforeIncref };

template <class P>
class SetBit {
 public:
  explicit SetBit(BitFault fault) : fault_(fault) {
    if constexpr (requires { P::name(count_, "count"); }) {
      P::name(count_, "count");
      P::name(slot_, "slot");
      P::name(body_, "body");
      P::name(references_, "py count");
    }
  }

  void run(int thread) {
    if (thread == 0) {
      set_bit();
    } else {
      incref();
    }
  }

  void finish() {
    const int strong = count_.load(kRelaxed) & ~kBit;
    P::check(references_.load(kRelaxed) == 1 + (strong > 1), "the impl has one reference");
  }

 private:
  static constexpr int kBit = 1 << 16;

  void set_bit() {
    body_.store(1);
    if (fault_ != BitFault::kBitBeforeSlot) slot_.store(1, kRelaxed);
    bool increfed = false;
    int word = count_.load(kRelaxed);
    do {
      if (word > 1 && !increfed && fault_ != BitFault::kBitBeforeIncref) {
        references_.fetch_add(1, kRelaxed);
        increfed = true;
      }
    } while (!count_.compare_exchange_weak(
        word, word | kBit, fault_ == BitFault::kNoRelease ? kAcquire : kAcqRel, kRelaxed));
    if (increfed && word == 1) references_.fetch_sub(1, kRelaxed);
    if (fault_ == BitFault::kBitBeforeSlot) slot_.store(1, kRelaxed);
    if (fault_ == BitFault::kBitBeforeIncref && (count_.load(kRelaxed) & ~kBit) > 1) {
      references_.fetch_add(1, kRelaxed);
    }
  }

  void incref() {
    const int before = count_.fetch_add(1, kRelaxed);
    if (before != (1 | kBit)) return;
    if (fault_ != BitFault::kNoFence) P::fence(kAcquire);
    P::check(slot_.load(kRelaxed) == 1, "who sees the bit finds the wrapper");
    P::check(body_.load() == 1, "and its body");
    references_.fetch_add(1, kRelaxed);
  }

  BitFault fault_;
  typename P::template atomic<int> count_{1};
  typename P::template atomic<int> slot_{0};
  typename P::template atomic<int> references_{1};
  typename P::template var<int> body_{0};
};

}  // namespace slotfuzz::interleave
