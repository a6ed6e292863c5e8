// Schedulers that read the choices of a schedule one by one, in the order of
// Note [Schedules are bytes], and record the choices that were taken.
#pragma once

#include "harness/interleave/explore/explore.h"

namespace slotfuzz::interleave {

// The kinds of choices: a thread while the current one could continue, a thread because the current
// one cannot (or there was none), or a store.
enum class ChoiceKind : uint8_t { kPreempt, kNext, kStore };

class ByteScheduler : public Scheduler {
 public:
  int advance(Execution& execution) final;
  // Call before each execution.
  void begin();
  const Schedule& taken() const { return taken_; }

 protected:
  // Chooses one of the options, threads or stores, of which there are at least two: 0 to count - 1.
  virtual int choose(const Execution& execution, ChoiceKind kind, const int16_t* options,
                     int count) = 0;

 private:
  int ask(const Execution& execution, ChoiceKind kind, const int16_t* options, int count);

  Schedule taken_;
  int last_ = kNobody;
};

// The bytes of a schedule; then zeros.
class GivenScheduler final : public ByteScheduler {
 public:
  explicit GivenScheduler(const Schedule& schedule) : schedule_(schedule) {}

 protected:
  int choose(const Execution&, ChoiceKind kind, const int16_t* options, int count) override;

 private:
  const Schedule& schedule_;
};

// Finds the bytes of an execution that another scheduler made.
class DecidedScheduler final : public ByteScheduler {
 public:
  explicit DecidedScheduler(std::vector<Decision> decisions) : decisions_(std::move(decisions)) {}

 protected:
  int choose(const Execution&, ChoiceKind kind, const int16_t* options, int count) override;

 private:
  std::vector<Decision> decisions_;
};

Schedule normalised(Schedule schedule);
// The bytes of the last execution, which this runs again.
Schedule schedule_of_last(Program& program, Execution& execution);
// The failure that the schedule leads to, with its trace.
Failure failure_of(Program& program, Execution& execution, const Schedule& schedule);

}  // namespace slotfuzz::interleave
