// The oracle of the search over graphs: the same machine, with every interleaving of every
// operation and every choice, and no reduction at all. Partial-order reduction is easy to get
// silently wrong; random small programs, whose executions both searches collect, show it.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "harness/interleave/explore/explore.h"

namespace slotfuzz::interleave {

// What the executions of a program were.
struct Seen {
  uint64_t executions = 0;
  uint64_t graphs_met = 0;      // with repetitions, if there are any
  std::set<uint64_t> graphs;    // by fingerprint
  std::set<uint64_t> outcomes;  // what the threads read and what is left at the end
  std::set<FailureKind> failures;
  bool cut = false;
};

// A program that tells its executions apart.
class ObservedProgram : public Program {
 public:
  // Of the last execution: equal if all threads read the same and the same is left.
  virtual uint64_t outcome() const = 0;
};

// Does not stop at failures.
Seen every_interleaving(ObservedProgram& program, Execution& execution, uint64_t executions_max);
Seen every_graph(ObservedProgram& program, Execution& execution, uint64_t executions_max);

struct Comparison {
  uint64_t programs = 0;
  uint64_t skipped = 0;  // too many interleavings
  uint64_t with_failure = 0;
  uint64_t interleavings = 0;
  uint64_t executions = 0;  // of the reduced search
  uint64_t graphs = 0;
  // The first program on which the two disagree, as text; empty: none.
  std::string mismatch;
};

// Nearly all random programs have fewer.
constexpr uint64_t kInterleavingsMax = 30'000;

// `count` random programs of 2 to 3 threads, the same for the same seed; those with more
// interleavings are skipped, and do not count.
Comparison compare_with_naive(uint64_t count, uint64_t seed,
                              uint64_t interleavings_max = kInterleavingsMax);

}  // namespace slotfuzz::interleave
