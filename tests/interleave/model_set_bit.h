// The wrapper's bit set while a reference is taken, with faults to choose. Written from the
// protocol's description alone, so that it tests the engine and not the core.
#pragma once

#include "harness/interleave/model/model_policy.h"
#include "tests/interleave/memory_orders.h"

namespace slotfuzz::interleave {

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
    P::check(references_.load(kRelaxed) == 1 + (strong > 1), "", "the impl has one reference");
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
    P::check(slot_.load(kRelaxed) == 1, "", "who sees the bit finds the wrapper");
    P::check(body_.load() == 1, "", "and its body");
    references_.fetch_add(1, kRelaxed);
  }

  BitFault fault_;
  typename P::template atomic<int> count_{1};
  typename P::template atomic<int> slot_{0};
  typename P::template atomic<int> references_{1};
  typename P::template var<int> body_{0};
};

}  // namespace slotfuzz::interleave
