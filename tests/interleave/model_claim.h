// Threads that claim the tag of one slot, with faults to choose. Written from the protocol's
// description alone, so that it tests the engine and not the core.
#pragma once

#include <optional>

#include "harness/interleave/model/model_policy.h"
#include "tests/interleave/memory_orders.h"

namespace slotfuzz::interleave {

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
      P::check(tag_.load(kAcquire) == me, "", "the winner sees its tag");
      P::check(pyobj_.load() == me, "", "the winner sees its object");
      owner_seen_[thread] = me;
    } else {
      P::check(names_[tag - 1]->load() == tag * 10, "", "a loser can name the winner");
      owner_seen_[thread] = tag;
    }
  }

  void finish() {
    const int tag = tag_.load(kAcquire);
    P::check(tag != 0, "", "somebody wins");
    P::check(pyobj_.load() == tag, "", "the winner's object is in the slot");
    for (int thread = 0; thread < threads_; ++thread) {
      P::check(owner_seen_[thread] == tag, "", "all see the same winner");
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

}  // namespace slotfuzz::interleave
