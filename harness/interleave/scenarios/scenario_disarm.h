// An interpreter that ends while impls that it wrapped are destroyed on other threads (T5).
#pragma once

#include <optional>

#include "core/c10/impl/protocol/slot.h"
#include "core/c10/impl/protocol/vtable_word.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

template <class P>
class DisarmScenario {
 public:
  static constexpr const char* kName = "disarm";
  static constexpr const char* kSentence = "an interpreter ends while destructors run (T5)";
  static constexpr uint8_t kId = 0xd1;
  static constexpr int kThreadsLeast = 2;
  static constexpr Named kOps[] = {
      {"destruct", "destroy an impl that owns a wrapper"},
      {"disarm", "the interpreter ends"},
      {"name", "read the interpreter's name"},
      {"incref", "take a reference to a living wrapper"},
  };
  static constexpr Named kShapes[] = {{"slots", "an impl with a wrapper for each destruct"}};

  // One thread that disarms against destructors: 3, 11, 49, 261 execution graphs for 1 to 4.
  static Plan golden(int threads) {
    Plan plan;
    plan.threads = static_cast<uint8_t>(threads);
    plan.add(0, kDisarm);
    for (int thread = 1; thread < threads; ++thread) plan.add(thread, kDestruct);
    return plan;
  }

  static int role(int, int) { return 0; }
  static bool concerns_neighbour(int) { return false; }

  explicit DisarmScenario(const Plan& plan) : plan_(plan), armed_(1), interpreter_(&armed_) {
    name_word<P, VTable*>(interpreter_.vtable, "vtable");
    for (int thread = 0; thread < plan.threads; ++thread) {
      for (int i = 0; i < plan.length(thread); ++i) {
        if (plan.op(thread, i) == kDestruct) make_slot(thread, i);
        if (plan.op(thread, i) == kIncref && !common_) common_.emplace();
      }
    }
  }

  void run(int thread) {
    for (int i = 0; i < plan_.length(thread); ++i) {
      P::begin_line(i + 1);
      switch (static_cast<Op>(plan_.op(thread, i))) {
        case kDestruct: destruct(thread, i); break;
        case kDisarm: disarm(thread, i); break;
        case kAskName: name(thread); break;
        case kIncref: incref(thread); break;
      }
    }
  }

  void finish() {
    for (int thread = 0; thread < plan_.threads; ++thread) {
      int alive = 1;
      for (int i = 0; i < plan_.length(thread); ++i) {
        if (Wrapper* wrapper = wrappers_[thread][i]) {
          const int left = wrapper->references.load();
          // Once a thread has seen the interpreter end, it stays ended: later wrappers are leaked
          // on purpose.
          P::check(left <= 1 && left >= 1 - alive, "T5", "an ended interpreter stays ended");
          alive = 1 - left;
          P::destroy(wrapper);
        }
        if (VTable* disarmed = disarmed_[thread][i]) P::destroy(disarmed);
      }
    }
    if (common_) {
      P::check(common_->references.load() == 1 + interpreter_.increfs, "", "no incref is lost");
    }
  }

 private:
  enum Op { kDestruct, kDisarm, kAskName, kIncref };
  using Number = typename P::template var<int>;

  struct VTable {
    explicit VTable(int is_armed) : armed(is_armed) {}
    Number armed;
  };
  struct Interpreter {
    explicit Interpreter(VTable* armed) : vtable(armed) {}
    slotcore::impl::protocol::VTableWord<P, VTable> vtable;
    Gil<P> gil;
    Number finalized;
    int increfs = 0;
  };
  struct Wrapper {
    Number references{1};
  };
  struct Slot {
    slotcore::impl::protocol::Tag<P, Interpreter> tag;
    slotcore::impl::protocol::PyObjectWord<P> word;
  };

  void make_slot(int thread, int i) {
    Slot* slot = slots_[thread][i] = P::template make<Slot>();
    Wrapper* wrapper = wrappers_[thread][i] = P::template make<Wrapper>();
    slot->tag.claim(&interpreter_, slot->tag.status(&interpreter_, true));
    slot->word.set(reinterpret_cast<uintptr_t>(wrapper));
    slot->word.set_owns(true);
    name_word<P, Interpreter*>(slot->tag, "tag");
    name_word<P, uintptr_t>(slot->word, "pyobj");
  }

  void destruct(int thread, int i) {
    Slot* slot = slots_[thread][i];
    P::check(slot->word.owns(), "", "an impl that owns a wrapper says so");
    auto* wrapper = reinterpret_cast<Wrapper*>(slot->word.pointer());
    Interpreter* interpreter = slot->tag.load();
    P::check(interpreter == &interpreter_, "T1", "a tag stays");
    if (interpreter == nullptr || wrapper == nullptr) return;
    if (interpreter->vtable.load()->armed.load() != 0) {
      HoldsGil<P> gil(interpreter->gil, thread);
      if (interpreter->vtable.load_under_gil()->armed.load() != 0) {
        must_live();
        wrapper->references.store(wrapper->references.load() - 1);
      }
    }
    slot->word.set(0);
    P::destroy(slot);
  }

  void disarm(int thread, int i) {
    HoldsGil<P> gil(interpreter_.gil, thread);
    // Made here, so that the vtable word must publish it.
    disarmed_[thread][i] = P::template make<VTable>(0);
    interpreter_.vtable.disarm(disarmed_[thread][i]);
    interpreter_.finalized.store(1);
  }

  void name(int thread) {
    const int armed = interpreter_.vtable.load()->armed.load();
    P::check(armed == 0 || !disarmed_for_[thread], "T5", "an ended interpreter stays ended");
    disarmed_for_[thread] |= armed == 0;
  }

  void incref(int thread) {
    if (interpreter_.vtable.load()->armed.load() == 0) return;
    HoldsGil<P> gil(interpreter_.gil, thread);
    if (interpreter_.vtable.load_under_gil()->armed.load() == 0) return;
    must_live();
    common_->references.store(common_->references.load() + 1);
    ++interpreter_.increfs;
  }

  void must_live() {
    P::check(interpreter_.finalized.load() == 0, "T5",
             "an ended interpreter's objects are left alone");
  }

  const Plan& plan_;
  VTable armed_;
  Interpreter interpreter_;
  std::optional<Wrapper> common_;
  std::array<bool, kThreadsMax> disarmed_for_{};  // one for each thread
  // One for each operation of the plan, made by the set-up or by the operation's own thread.
  std::array<std::array<Slot*, kOpsMax>, kThreadsMax> slots_{};
  std::array<std::array<Wrapper*, kOpsMax>, kThreadsMax> wrappers_{};
  std::array<std::array<VTable*, kOpsMax>, kThreadsMax> disarmed_{};
};

}  // namespace slotfuzz::interleave
