// An interpreter that ends while tensors that own its wrappers die (contract T5), and the error
// path of an untagged slot.

#include "targets/c10/scenario.h"
#include "targets/c10/slot.h"

namespace slotfuzz::c10_subject {
namespace {

// The first thread ends the interpreter; each other thread releases its own tensor.
class DisarmScenario final : public Scenario {
 public:
  explicit DisarmScenario(const Plan& plan) : plan_(plan) {
    for (int thread = 1; thread < plan.threads; ++thread) {
      tensors_[thread] = make_tensor();
      objects_[thread] = new Object(1);
      slot_of(tensors_[thread])
          .init_pyobj(interpreter_.tag(), objects_[thread]->address(),
                      Status::DEFINITELY_UNINITIALIZED);
      slot_of(tensors_[thread]).set_owns_pyobj(true);
      // One reference for the scenario, which frees what a disarmed interpreter leaks.
      ++objects_[thread]->count;
    }
  }

  void run(int thread) override {
    // Other threads may run here, as in the preceding operations of c10.
    before_access();
    if (thread == 0) return interpreter_.end();
    tensors_[thread].reset();
  }

  const char* finish() override {
    for (int thread = 1; thread < plan_.threads; ++thread) delete objects_[thread];
    return nullptr;
  }

 private:
  const Plan& plan_;
  Interpreter interpreter_{1};
  std::array<Tensor, kThreadsMax> tensors_;
  std::array<Object*, kThreadsMax> objects_{};
};

// A tensor asks its interpreter for a property that Python code may decide, here the device. With a
// tag this should work; without one it should throw (load_pyobj_interpreter).
class LoadScenario final : public Scenario {
 public:
  explicit LoadScenario(const Plan& plan) : plan_(plan) {}

  void run(int thread) override {
    Tensor tensor = make_tensor();
    tensor->set_python_custom_device(true);
    int line = 0;
    for (uint8_t op : plan_.ops[thread]) {
      interleave::FibreScheduler::begin_line(++line);
      if (op % 2 == 0) {
        slot_of(tensor).init_pyobj(interpreter_.tag(), nullptr, Status::MAYBE_UNINITIALIZED);
        continue;
      }
      try {
        tensor->device();
      } catch (const c10::Error&) {
        // The intended result.
      }
    }
  }

  const char* finish() override { return nullptr; }

 private:
  const Plan& plan_;
  Interpreter interpreter_{1};
};

}  // namespace

Kind disarm_kind() {
  return {"disarm",
          "an interpreter ends while tensors that own its wrappers die (T5)",
          {"drop"},
          [](const Plan& plan) -> std::unique_ptr<Scenario> {
            return std::make_unique<DisarmScenario>(plan);
          }};
}

Kind load_kind() {
  return {"load",
          "the interpreter of a tensor that has none",
          {"tag", "ask"},
          [](const Plan& plan) -> std::unique_ptr<Scenario> {
            return std::make_unique<LoadScenario>(plan);
          }};
}

}  // namespace slotfuzz::c10_subject
