// Every thread program of a size, up to renaming of threads that start alike.
#pragma once

#include <functional>
#include <vector>

#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

struct ProgramSpace {
  int threads = 3;
  int length = 2;  // operations per thread
  int shape = 0;
  std::vector<int> ops;  // the operations to use; empty: all
};

// Calls `visit` with each plan until it returns false; returns the number of calls.
//
// Threads of one role differ only in their number, and so do interpreters that contain one thread
// each. So of plans that differ by an exchange of such threads, one is enough: the one whose
// programs are sorted. This does not hold for an operation that refers to the thread with the next
// number.
uint64_t for_each_plan(const Protocol& protocol, const ProgramSpace& space,
                       const std::function<bool(const Plan&)>& visit);

}  // namespace slotfuzz::interleave
