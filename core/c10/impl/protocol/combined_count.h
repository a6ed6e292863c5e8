// The strong count, the weak count and the wrapper's bit of an impl, in one word of 64 bits.
//
//   bit 63        has-PyObject: the wrapper holds one strong reference, for its whole life
//   bits 32..62   weak: weak references, and one more while strong > 0
//   bits 0..31    strong
//
// Note [The wrapper's bit]
// Once the bit is set, it stays. From then on, whenever no thread is inside one of these functions:
//
//   strong > 1   ⇔   the impl holds one reference to its wrapper
//
// So a C++ owner keeps the wrapper alive (P2), and when the last C++ owner is gone only Python owns
// the wrapper. The thread that takes strong from 1 to 2 takes that reference, and the thread that
// takes strong from 2 to 1 releases it, both under the GIL of the tagged interpreter. The wrapper's
// pointer is in the slot before the bit is set. This is the protocol of PyTorch 2.10
// (c10/util/intrusive_ptr.h, Note [PyObject preservation]).
//
// `Wrapper`, a parameter of some functions, gives access to the wrapper: incref(), decref(), and
// try_incref(), which returns false when the wrapper is dying. Each takes the GIL itself.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/c10/impl/protocol/std_policy.h"

namespace slotcore::impl::protocol {

template <class P>
class CombinedCount {
 public:
  // The owners that remain after a strong reference was released.
  enum class Left {
    kOwners,   // other strong references
    kWrapper,  // the wrapper only: the caller must release the impl's reference to it
    kNobody,   // the target has expired and must be destroyed
  };

  // Starts with one strong reference, and the weak reference of all strong owners.
  CombinedCount() noexcept : word_(kStrongOne | kWeakOne) {}

  // Acquire: a caller that reads 1 or 0 sees what the former owners did before they released.
  uint32_t strong() const noexcept { return strong_of(word_.load(std::memory_order_acquire)); }
  // Whether the caller's reference is the only one of either kind, so that no other thread can
  // reach the target. Weak references count, because a thread can lock one. Acquire: as for
  // strong().
  bool unescaped() const noexcept {
    return (word_.load(std::memory_order_acquire) & ~kHasPyObject) == (kStrongOne | kWeakOne);
  }
  // Weak references, and one more while strong > 0. Acquire: as for strong().
  uint32_t weak() const noexcept { return weak_of(word_.load(std::memory_order_acquire)); }
  // Relaxed: read by tests, and by the thread that sets the bit, under the same GIL.
  bool has_pyobject() const noexcept { return has(word_.load(std::memory_order_relaxed)); }

  // strong + 1; the caller has a reference already. True when the caller must now take the impl's
  // reference to the wrapper.
  [[nodiscard]] bool incref() noexcept {
    // Relaxed: the caller's own reference keeps the target alive, and a count publishes nothing.
    uint64_t before = word_.fetch_add(kStrongOne, std::memory_order_relaxed);
    if (!has(before) || strong_of(before) != 1) return false;
    // Pairs with the release in set_has_pyobject: a thread that read the bit finds the slot.
    P::fence(std::memory_order_acquire);
    return true;
  }

  // strong - 1.
  [[nodiscard]] Left decref() noexcept {
    // Release: what this thread did to the target happens before its destruction. Acquire: the
    // thread that destroys it sees all of that. The result comes from this one operation: a second
    // load could read a count that other threads have changed since.
    uint64_t before = word_.fetch_sub(kStrongOne, std::memory_order_acq_rel);
    if (strong_of(before) == 1) return Left::kNobody;
    return has(before) && strong_of(before) == 2 ? Left::kWrapper : Left::kOwners;
  }

  // strong - 1; when strong is 1, changes nothing and returns false. For Note [Handing over].
  [[nodiscard]] bool decref_unless_last() noexcept {
    // Acquire, on load and on failure: the last owner must see all that the others did before they
    // released, above all the owns bit. Release: pairs with that acquire.
    uint64_t word = word_.load(std::memory_order_acquire);
    while (strong_of(word) > 1) {
      if (word_.compare_exchange_weak(word, word - kStrongOne, std::memory_order_release,
                                      std::memory_order_acquire)) {
        return true;
      }
    }
    P::check(strong_of(word) == 1, "P7", "a reference is dropped by someone who has one");
    return false;
  }

  // strong 1 -> 0; otherwise changes nothing and returns false. After true the target has expired.
  [[nodiscard]] bool expire_if_unique() noexcept {
    uint64_t word = word_.load(std::memory_order_relaxed);
    // Acquire: the caller destroys what others used. Release: a lock that fails later is ordered
    // after this.
    while (strong_of(word) == 1) {
      if (word_.compare_exchange_weak(word, word - kStrongOne, std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  void weak_incref() noexcept {
    word_.fetch_add(kWeakOne, std::memory_order_relaxed);  // as for strong
  }
  // True when this was the last reference of either kind; then the caller frees the memory.
  [[nodiscard]] bool weak_decref() noexcept {
    // As in decref, for the memory.
    return weak_of(word_.fetch_sub(kWeakOne, std::memory_order_acq_rel)) == 1;
  }

  // strong + 1 for a caller with a weak reference; false when the target has expired, or when its
  // only owner is a dying wrapper.
  template <class Wrapper>
  [[nodiscard]] bool lock(Wrapper wrapper) noexcept {
    bool increfed = false;
    uint64_t word = word_.load(std::memory_order_relaxed);
    do {
      if (strong_of(word) == 0) {
        P::check(!increfed, "P2", "a wrapper that lives has its reference");
        return false;
      }
      // The wrapper's reference first, then the strong count: strong must never be 2 without it.
      if (has(word) && strong_of(word) == 1 && !increfed) {
        if (!wrapper.try_incref()) return false;
        increfed = true;
      }
      // Acquire: the new owner sees what former owners did before they released.
    } while (!word_.compare_exchange_weak(word, word + kStrongOne, std::memory_order_acquire,
                                          std::memory_order_relaxed));
    // Another C++ owner came first and has taken the impl's reference to the wrapper.
    if (increfed && strong_of(word) != 1) wrapper.decref();
    return true;
  }

  // Sets the bit: the wrapper, whose pointer is in the slot, has taken over a strong reference.
  // Called once for each target, under the GIL of the tagged interpreter.
  template <class Wrapper>
  void set_has_pyobject(Wrapper wrapper) noexcept {
    bool increfed = false;
    uint64_t word = word_.load(std::memory_order_relaxed);
    do {
      P::check(!has(word), "P1", "a target gets one wrapper");
      // Before the bit: once it is set, other threads rely on the impl's reference.
      if (strong_of(word) > 1 && !increfed) {
        wrapper.incref();
        increfed = true;
      }
      // Release: a thread that sees the bit finds the wrapper in the slot (incref).
    } while (!word_.compare_exchange_weak(word, word | kHasPyObject, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
    if (increfed && strong_of(word) == 1) wrapper.decref();
  }

 private:
  static constexpr uint64_t kStrongOne = 1;
  static constexpr uint64_t kWeakOne = uint64_t{1} << 32;
  static constexpr uint64_t kHasPyObject = uint64_t{1} << 63;

  static uint32_t strong_of(uint64_t word) noexcept { return static_cast<uint32_t>(word); }
  static uint32_t weak_of(uint64_t word) noexcept {
    return static_cast<uint32_t>((word & ~kHasPyObject) >> 32);
  }
  static bool has(uint64_t word) noexcept { return (word & kHasPyObject) != 0; }

  typename P::template atomic<uint64_t> word_;
};

}  // namespace slotcore::impl::protocol
