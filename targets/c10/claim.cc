// Interpreters that wrap one tensor at the same time (contract T1 to T4), with the steps in which
// libtorch_python uses the slot. Each thread is alone in its interpreter, whose GIL it holds.
//
// claim follows the rules in the slot's comments. weak-claim adds weak references and takes the
// status from use_count(), as THPVariable_Wrap does: a use_count of 1 is supposed to mean that no
// other thread can reach the tensor. A thread with a weak reference is a counterexample.

#include <optional>

#include "targets/c10/scenario.h"
#include "targets/c10/slot.h"

namespace slotfuzz::c10_subject {
namespace {

enum Op { kWrap, kCheck, kOwn, kDisown, kRelease, kLock };

class ClaimScenario final : public Scenario {
 public:
  ClaimScenario(const Plan& plan, bool weak) : plan_(plan), weak_(weak) {
    Tensor tensor = make_tensor();
    for (int thread = 0; thread < plan.threads; ++thread) {
      lanes_[thread].emplace(thread + 1);
      lanes_[thread]->tensor = tensor;
      lanes_[thread]->handle.emplace(tensor);
    }
  }

  void run(int thread) override {
    Lane& lane = *lanes_[thread];
    int line = 0;
    for (uint8_t op : plan_.ops[thread]) {
      interleave::FibreScheduler::begin_line(++line);
      const Op what = static_cast<Op>(op % (weak_ ? 6 : 5));
      if (what == kLock && !lane.tensor) lane.tensor = lane.handle->lock();
      if (lane.tensor) step(lane, what);
    }
  }

  const char* finish() override {
    int winners = 0;
    int losers = 0;
    for (int thread = 0; thread < plan_.threads; ++thread) {
      Lane& lane = *lanes_[thread];
      winners += lane.won;
      losers += lane.lost;
      if (lane.won && lane.lost) return "T1: an interpreter that had the tag lost it";
    }
    if (winners > 1) return "T2: two interpreters have the tag";
    if (losers > 0 && winners == 0) return "T2: an interpreter lost to nobody";
    for (int thread = 0; thread < plan_.threads; ++thread) {
      if (lanes_[thread]->tensor) step(*lanes_[thread], kRelease);
      lanes_[thread]->handle.reset();
    }
    return nullptr;
  }

 private:
  struct Lane {
    explicit Lane(int number) : interpreter(number) {}
    Interpreter interpreter;
    Tensor tensor;
    std::optional<WeakTensor> handle;
    Object* object = nullptr;  // the wrapper, while Python owns it
    bool won = false;
    bool lost = false;
  };

  void step(Lane& lane, Op op) {
    switch (op) {
      case kWrap: return wrap(lane);
      case kCheck: return static_cast<void>(check(lane));
      case kOwn: return set_owns(lane, true);
      case kDisown: return set_owns(lane, false);
      case kRelease: return release(lane);
      case kLock: return;
    }
  }

  // Reads the tag for this interpreter, and uses the wrapper if there is one.
  Status check(Lane& lane) {
    try {
      auto known = slot_of(lane.tensor).check_pyobj(lane.interpreter.tag());
      if (!known.has_value()) {
        const bool fresh = weak_ && lane.tensor.use_count() <= 1;
        return fresh ? Status::DEFINITELY_UNINITIALIZED : Status::MAYBE_UNINITIALIZED;
      }
      if (*known != nullptr) {
        Object* object = Object::at(*known);
        if (object->owner != lane.interpreter.number())
          interleave::FibreScheduler::stop("T2: the wrapper is another interpreter's");
        object->body++;
      }
      return Status::TAGGED_BY_US;
    } catch (const c10::Error&) {
      lane.lost = true;
      return Status::TAGGED_BY_OTHER;
    }
  }

  void wrap(Lane& lane) {
    const Status status = check(lane);
    if (status == Status::TAGGED_BY_OTHER) return;
    if (status == Status::TAGGED_BY_US && slot_of(lane.tensor)._unchecked_untagged_pyobj()) return;
    auto object = std::make_unique<Object>(lane.interpreter.number());
    try {
      slot_of(lane.tensor).init_pyobj(lane.interpreter.tag(), object->address(), status);
    } catch (const c10::Error&) {
      lane.lost = true;
      return;
    }
    lane.won = true;
    lane.object = object.release();
    check(lane);
  }

  // A thread with the GIL of the tagged interpreter moves the wrapper between its two owners.
  void set_owns(Lane& lane, bool owns) {
    if (!lane.won || !slot_of(lane.tensor)._unchecked_untagged_pyobj()) return;
    lane.object = owns ? nullptr : Object::at(slot_of(lane.tensor)._unchecked_untagged_pyobj());
    slot_of(lane.tensor).set_owns_pyobj(owns);
  }

  // Python drops its last reference to the wrapper. If the tensor has other owners, it keeps the
  // wrapper; otherwise both die.
  void release(Lane& lane) {
    if (lane.object != nullptr) {
      if (lane.tensor.use_count() > 1) {
        set_owns(lane, true);
      } else {
        slot_of(lane.tensor).unchecked_clear_pyobj(lane.interpreter.tag());
        lane.interpreter.drop(std::exchange(lane.object, nullptr));
      }
    }
    lane.tensor.reset();
  }

  const Plan& plan_;
  const bool weak_;
  std::array<std::optional<Lane>, kThreadsMax> lanes_;
};

}  // namespace

Kind claim_kind() {
  return {"claim",
          "interpreters wrap one tensor at the same time (T1-T4)",
          {"wrap", "check", "own", "disown", "release"},
          [](const Plan& plan) -> std::unique_ptr<Scenario> {
            return std::make_unique<ClaimScenario>(plan, false);
          }};
}

Kind weak_claim_kind() {
  return {"weak-claim",
          "the same with weak references, the status taken from use_count()",
          {"wrap", "check", "own", "disown", "release", "lock"},
          [](const Plan& plan) -> std::unique_ptr<Scenario> {
            return std::make_unique<ClaimScenario>(plan, true);
          }};
}

}  // namespace slotfuzz::c10_subject
