// Destructors of impls while an interpreter is disarmed, with faults to choose. Written from the
// protocol's description alone, so that it tests the engine and not the core.
#pragma once

#include <optional>

#include "harness/interleave/model/model_policy.h"
#include "tests/interleave/memory_orders.h"

namespace slotfuzz::interleave {

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

  void finish() { P::check(finalized_.load(), "", "the interpreter was disarmed"); }

 private:
  static constexpr int kAlive = 1;
  static constexpr int kDisarmed = 2;

  struct Slot {
    typename P::template var<int> pyobj{1};
    typename P::template atomic<int> tag{1};
  };

  void destroy(int i) {
    Slot& slot = *slots_[i];
    P::check(slot.pyobj.load() == 1, "", "the slot owns its object");
    P::check(slot.tag.load(kAcquire) == 1, "", "the slot is tagged");
    if (vtable_.load(kAcquire) == kAlive) {
      if (fault_ != DisarmFault::kNoGil) gil_.lock();
      if (fault_ == DisarmFault::kAsksOnce || vtable_.load(kRelaxed) == kAlive) {
        P::check(!finalized_.load(), "", "no decref after the interpreter was finalized");
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

}  // namespace slotfuzz::interleave
