// The two words of a slot as a protocol: who may tag it, and what it says about the wrapper.
// See py_object_slot.h for what the words mean, and Note [Protocols over a policy].
#pragma once

#include <atomic>
#include <cstdint>

#include "core/c10/impl/protocol/std_policy.h"

namespace slotcore::impl {

// What the caller, who holds the GIL of its interpreter, knows about the tag (T3).
enum class PyInterpreterStatus {
  DEFINITELY_UNINITIALIZED,  // the impl has not escaped this thread: a plain store is enough
  MAYBE_UNINITIALIZED,       // it looked empty, another interpreter may be claiming it now
  TAGGED_BY_US,              // ours: this thread is the only writer
  TAGGED_BY_OTHER,           // another interpreter's: refuse
};

namespace protocol {

// The tag goes from null to one interpreter, once (T1). `Interpreter` is what it points to.
template <class P, class Interpreter>
class Tag {
 public:
  // The interpreter, or null. Acquire: pairs with the claim, so that what its claimer wrote before,
  // above all *interpreter itself, can be read.
  Interpreter* load() const noexcept { return tag_.load(std::memory_order_acquire); }

  // What `self` has to pass to claim(). `unshared` says that the caller has the only reference of
  // the impl, so that nobody else can be claiming it.
  PyInterpreterStatus status(const Interpreter* self, bool unshared) const noexcept {
    const Interpreter* tag = load();
    if (tag == self) return PyInterpreterStatus::TAGGED_BY_US;
    if (tag != nullptr) return PyInterpreterStatus::TAGGED_BY_OTHER;
    return unshared ? PyInterpreterStatus::DEFINITELY_UNINITIALIZED
                    : PyInterpreterStatus::MAYBE_UNINITIALIZED;
  }

  // Tags the slot with `self`, and returns whose it is then: `self`, or the interpreter that was
  // there before, also by a hair's breadth (T2).
  Interpreter* claim(Interpreter* self, PyInterpreterStatus status) noexcept {
    switch (status) {
      case PyInterpreterStatus::TAGGED_BY_US: return self;
      case PyInterpreterStatus::DEFINITELY_UNINITIALIZED:
        // Relaxed: nobody else has the impl yet. Whoever gets it later gets it through something
        // that synchronises, and that publishes this store as well.
        tag_.store(self, std::memory_order_relaxed);
        return self;
      case PyInterpreterStatus::MAYBE_UNINITIALIZED: {
        Interpreter* expected = nullptr;
        // Release publishes *self to the acquire of load() and of a failing claim; acquire on
        // failure makes the winner's *interpreter readable, because the error names it.
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

// The PyObject field: the address of the wrapper, and in bit 0 whether the impl owns it, which only
// the resurrection protocol uses. All writers hold the GIL of the tagged interpreter (T4).
template <class P>
class PyObjectWord {
 public:
  // Acquire and release are for readers that do not hold the GIL: who finds the wrapper through the
  // bit of the counts, in a build without a GIL. Under the GIL, the GIL orders.
  uintptr_t pointer() const noexcept { return word_.load(std::memory_order_acquire) & ~kOwnsBit; }
  // Relaxed: the one reader without the GIL is who drops the last strong reference. It has acquired
  // the count, which whoever set the bit released afterwards (Note [Handing over]).
  bool owns() const noexcept { return (word_.load(std::memory_order_relaxed) & kOwnsBit) != 0; }

  void set(uintptr_t pointer) noexcept { word_.store(pointer, std::memory_order_release); }
  void set_owns(bool owns) noexcept {
    // Relaxed, both: the pointer does not change, and its publication is past.
    uintptr_t pointer = word_.load(std::memory_order_relaxed) & ~kOwnsBit;
    P::check(pointer != 0 || !owns, "an impl owns a wrapper that exists");
    word_.store(pointer | (owns ? kOwnsBit : 0), std::memory_order_relaxed);
  }

 private:
  static constexpr uintptr_t kOwnsBit = 1;

  typename P::template atomic<uintptr_t> word_{0};
};

}  // namespace protocol
}  // namespace slotcore::impl
