// Backwards on several threads unpack what a node has saved while one of them releases it (A2).
#pragma once

#include <array>

#include "core/c10/impl/protocol/saved_data.h"
#include "harness/interleave/scenarios/owned_target.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

template <class P>
class SavedScenario {
 public:
  static constexpr const char* kName = "saved";
  static constexpr const char* kSentence = "threads unpack and release what a node has saved (A2)";
  static constexpr uint8_t kId = 0xa3;
  static constexpr int kThreadsLeast = 2;
  static constexpr Named kOps[] = {
      {"unpack", "fetch the saved tensor, or learn that it is freed"},
      {"release", "free what is saved"},
      {"use", "read the tensor that was fetched"},
      {"drop", "drop the tensor that was fetched"},
  };
  static constexpr Named kShapes[] = {{"node", "a node that has saved a tensor"}};

  // One thread releases, the others unpack.
  static Plan golden(int threads) {
    Plan plan;
    plan.threads = static_cast<uint8_t>(threads);
    plan.add(0, kRelease);
    for (int thread = 1; thread < threads; ++thread) plan.add(thread, kUnpack);
    return plan;
  }

  static int role(int, int) { return 0; }
  static bool concerns_neighbour(int) { return false; }

  explicit SavedScenario(const Plan& plan) : plan_(plan), saved_(mutex_) {
    P::name(mutex_, "mutex of the node");
    saved_.unguarded()[0].data = Pointer(P::template make<Data>(this));
  }

  void run(int thread) {
    for (int i = 0; i < plan_.length(thread); ++i) {
      P::begin_line(i + 1);
      switch (static_cast<Op>(plan_.op(thread, i))) {
        case kUnpack: unpack(thread); break;
        case kRelease: release(thread); break;
        case kUse: use(fetched_[thread]); break;
        case kDrop: fetched_[thread].reset(); break;
      }
    }
  }

  void finish() {
    for (Pointer& fetched : fetched_) {
      use(fetched);
      fetched.reset();
    }
    (void)saved_.release();
    P::check(expirations_ == 1, "P5", "what was saved dies once, with its last owner");
  }

 private:
  enum Op { kUnpack, kRelease, kUse, kDrop };
  using Number = typename P::template var<int>;

  struct Data {
    explicit Data(SavedScenario* scenario) : scenario(scenario) { P::name(is_whole, "saved data"); }
    // A finalizer looks at the node: it would wait for ever if the caller held the mutex.
    void expire() {
      is_whole.store(0);
      ++scenario->expirations_;
      scenario->mutex_.lock();
      scenario->mutex_.unlock();
    }

    Count<P> count;
    Number is_whole{1};
    SavedScenario* const scenario;
  };
  using Pointer = Strong<P, Data>;

  struct Saved {
    Pointer release() { return std::move(data); }
    Pointer data;
  };

  void unpack(int thread) {
    Pointer found = std::move(saved_.copy(0).data);
    P::check(!found || !is_freed_[thread], "A2a", "what is freed stays freed");
    is_freed_[thread] = !found;
    use(found);
    fetched_[thread] = std::move(found);
  }

  void release(int thread) {
    // Dropped by this thread, as SavingNode does.
    (void)saved_.release();
    is_freed_[thread] = true;
  }

  void use(const Pointer& fetched) {
    if (fetched) P::check(fetched->is_whole.load() == 1, "A2d", "what was fetched is whole");
  }

  const Plan& plan_;
  typename P::mutex mutex_;
  slotcore::impl::protocol::SavedData<P, Saved, 1> saved_;
  std::array<Pointer, kThreadsMax> fetched_;  // one for each thread
  std::array<bool, kThreadsMax> is_freed_{};  // that it saw
  int expirations_ = 0;                       // twice would be a race, or a failure at the end
};

}  // namespace slotfuzz::interleave
