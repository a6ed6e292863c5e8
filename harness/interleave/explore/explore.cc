// The modes of a search, and the random search.

#include "harness/interleave/explore/explore.h"

#include "harness/engine/check.h"
#include "harness/interleave/explore/explore_budget.h"
#include "harness/interleave/explore/explore_depth.h"
#include "harness/interleave/explore/explore_graphs.h"

namespace slotfuzz::interleave {

namespace {

// Takes the first option half of the time: the executions that differ most are those in which
// threads run for a while and usually read the newest store.
class RandomScheduler final : public ByteScheduler {
 public:
  explicit RandomScheduler(uint64_t seed) : state_(seed * 2 + 1) {}

 protected:
  int choose(const Execution&, ChoiceKind, const int16_t*, int count) override {
    const uint64_t random = next();
    if ((random & 1) != 0) return 0;
    return static_cast<int>((random >> 33) * static_cast<uint64_t>(count) >> 31);
  }

 private:
  // xorshift64*, Vigna 2016.
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1d;
  }

  uint64_t state_;
};

Result explore_random(Program& program, const Options& options, Execution& execution) {
  Result result;
  result.cut = true;  // a random search is never complete
  RandomScheduler scheduler(options.seed);
  Budget budget(options);
  while (budget.take()) {
    scheduler.begin();
    ++result.executions;
    if (execution.run(program, scheduler) == Execution::Ending::kFailed) {
      result.failure = failure_of(program, execution, normalised(scheduler.taken()));
      return result;
    }
  }
  return result;
}

}  // namespace

Result explore(Program& program, const Options& options, Execution& execution) {
  switch (options.mode) {
    case Mode::kExhaustive: return explore_graphs(program, options, execution);
    case Mode::kBounded: return explore_bounded(program, options, execution);
    case Mode::kRandom: return explore_random(program, options, execution);
  }
  CHECK(false, "no such mode: " << static_cast<int>(options.mode));
  return {};
}

Result explore(Program& program, const Options& options) {
  Execution execution;
  return explore(program, options, execution);
}

}  // namespace slotfuzz::interleave
