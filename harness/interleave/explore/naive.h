// The oracle of the search over graphs: the same machine, with every interleaving of every
// operation and every choice, and without reduction. Partial-order reduction is easy to get wrong
// without a visible failure; random small programs, whose executions both searches collect, show
// it.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "harness/interleave/explore/explore.h"

namespace slotfuzz::interleave {

// The executions of a program.
struct Seen {
  uint64_t executions = 0;
  uint64_t graphs_met = 0;      // with repetitions, if there are any
  std::set<uint64_t> graphs;    // by fingerprint
  std::set<uint64_t> outcomes;  // the values that threads read and the final values
  std::set<FailureKind> failures;
  bool cut = false;
};

// A program that can compare its executions.
class ObservedProgram : public Program {
 public:
  // For the last execution: equal if all threads read the same values and the final values are
  // equal.
  virtual uint64_t outcome() const = 0;
};

// Neither stops at failures. The naive search need not choose at plain accesses either, but only if
// it does, it shows that.
Seen every_interleaving(ObservedProgram& program, Execution& execution, uint64_t executions_max,
                        bool yields_on_plain = true);
Seen every_graph(ObservedProgram& program, Execution& execution, uint64_t executions_max);

struct Comparison {
  uint64_t programs = 0;
  uint64_t skipped = 0;  // too many interleavings
  uint64_t with_failure = 0;
  uint64_t with_conditions = 0;
  uint64_t interleavings = 0;
  uint64_t executions = 0;  // of the reduced search
  uint64_t graphs = 0;
  // The first program on which the two disagree, as text; empty if they agree.
  std::string mismatch;
};

// Nearly all random programs have fewer.
constexpr uint64_t kInterleavingsMax = 30'000;

// Which instructions random programs consist of: all, or mainly waits and notifications, so that
// several threads wait for one condition.
enum class Mix { kAny, kConditions };

// `count` random programs of 2 to 3 threads, the same for the same seed. Programs with more
// interleavings are skipped, and do not count.
Comparison compare_with_naive(uint64_t count, uint64_t seed,
                              uint64_t interleavings_max = kInterleavingsMax, Mix mix = Mix::kAny);

}  // namespace slotfuzz::interleave
