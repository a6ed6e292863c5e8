// The protocol of the two words of a slot: the tag, which one interpreter claims, and the address
// of the wrapper. See py_object_slot.h for their meaning, and Note [Protocols over a policy].
#pragma once

#include <atomic>
#include <cstdint>

#include "core/c10/impl/protocol/std_policy.h"

namespace slotcore::impl {

// What the caller, which holds the GIL of its interpreter, knows about the tag (T3).
enum class PyInterpreterStatus {
  DEFINITELY_UNINITIALIZED,  // the impl has not escaped this thread: a plain store is enough
  MAYBE_UNINITIALIZED,       // the tag was null, but another interpreter may be claiming it now
  TAGGED_BY_US,              // tagged already: this thread is the only writer
  TAGGED_BY_OTHER,           // the claim must fail
};

namespace protocol {

// The tag goes from null to one interpreter, once (T1). It is an `Interpreter*`.
template <class P, class Interpreter>
class Tag {
 public:
  // The interpreter, or null. Acquire: pairs with the claim, so that this thread can read what the
  // claimer wrote before, above all *interpreter itself.
  Interpreter* load() const noexcept { return tag_.load(std::memory_order_acquire); }

  // The status that `self` passes to claim(). `unshared` says that the caller has the only
  // reference to the impl, so that no other thread can claim it.
  PyInterpreterStatus status(const Interpreter* self, bool unshared) const noexcept {
    const Interpreter* tag = load();
    if (tag == self) return PyInterpreterStatus::TAGGED_BY_US;
    if (tag != nullptr) return PyInterpreterStatus::TAGGED_BY_OTHER;
    return unshared ? PyInterpreterStatus::DEFINITELY_UNINITIALIZED
                    : PyInterpreterStatus::MAYBE_UNINITIALIZED;
  }

  // Tags the slot with `self`. Returns the interpreter that the tag then names: `self`, or the one
  // that claimed first (T2).
  Interpreter* claim(Interpreter* self, PyInterpreterStatus status) noexcept {
    switch (status) {
      case PyInterpreterStatus::TAGGED_BY_US: return self;
      case PyInterpreterStatus::DEFINITELY_UNINITIALIZED:
        // Relaxed: no other thread has the impl yet. A thread that receives it later does so
        // through something that synchronises, which publishes this store as well.
        tag_.store(self, std::memory_order_relaxed);
        return self;
      case PyInterpreterStatus::MAYBE_UNINITIALIZED: {
        Interpreter* expected = nullptr;
        // Release publishes *self to the acquire of load() and of a failing claim. Acquire on
        // failure lets the loser read the winner's *interpreter, whose name goes into the error.
        bool won = tag_.compare_exchange_strong(expected, self, std::memory_order_acq_rel,
                                                std::memory_order_acquire);
        return won ? self : expected;
      }
      case PyInterpreterStatus::TAGGED_BY_OTHER: return load();
    }
    __builtin_unreachable();
  }

 private:
  typename P::template atomic<Interpreter*> tag_{nullptr};
};

// The PyObject field: the address of the wrapper. Bit 0 says whether the impl owns the wrapper;
// only the resurrection protocol uses it. All writers hold the GIL of the tagged interpreter (T4).
template <class P>
class PyObjectWord {
 public:
  // Acquire and release are for readers without the GIL: in a build without a GIL, a thread finds
  // the wrapper through the bit of the counts. Otherwise the GIL orders the accesses.
  uintptr_t pointer() const noexcept { return word_.load(std::memory_order_acquire) & ~kOwnsBit; }
  // Relaxed: the only reader without the GIL is the thread that releases the last strong reference.
  // It has acquired the count, which the thread that set the bit released afterwards
  // (Note [Handing over]).
  bool owns() const noexcept { return (word_.load(std::memory_order_relaxed) & kOwnsBit) != 0; }

  void set(uintptr_t pointer) noexcept { word_.store(pointer, std::memory_order_release); }
  void set_owns(bool owns) noexcept {
    // Relaxed, both: the pointer does not change, and was published before.
    uintptr_t pointer = word_.load(std::memory_order_relaxed) & ~kOwnsBit;
    P::check(pointer != 0 || !owns, "P2", "an impl owns a wrapper that exists");
    word_.store(pointer | (owns ? kOwnsBit : 0), std::memory_order_relaxed);
  }

 private:
  static constexpr uintptr_t kOwnsBit = 1;

  typename P::template atomic<uintptr_t> word_{0};
};

}  // namespace protocol
}  // namespace slotcore::impl
