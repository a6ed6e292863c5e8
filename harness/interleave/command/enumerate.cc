// Enumerates all programs of a size, as a counter runs through the digits of a number.

#include "harness/interleave/command/enumerate.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace slotfuzz::interleave {

namespace {

bool is_needed(const Protocol& protocol, const Plan& plan) {
  for (int thread = 0; thread < plan.threads; ++thread) {
    for (int i = 0; i < plan.lengths[thread]; ++i) {
      if (protocol.concerns_neighbour(plan.ops[thread][i])) return true;
    }
  }
  for (int second = 1; second < plan.threads; ++second) {
    for (int first = 0; first < second; ++first) {
      if (protocol.role(plan.shape, first) == protocol.role(plan.shape, second) &&
          std::memcmp(plan.ops[first], plan.ops[second], kOpsMax) > 0) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

uint64_t for_each_plan(const Protocol& protocol, const ProgramSpace& space,
                       const std::function<bool(const Plan&)>& visit) {
  std::vector<int> ops = space.ops;
  if (ops.empty()) {
    ops.resize(protocol.ops.size());
    std::iota(ops.begin(), ops.end(), 0);
  }
  std::vector<size_t> digits(static_cast<size_t>(space.threads) * space.length, 0);
  uint64_t seen = 0;
  while (true) {
    Plan plan;
    plan.threads = static_cast<uint8_t>(space.threads);
    plan.shape = static_cast<uint8_t>(space.shape);
    for (size_t i = 0; i < digits.size(); ++i) {
      plan.add(static_cast<int>(i) / space.length, ops[digits[i]]);
    }
    if (is_needed(protocol, plan)) {
      ++seen;
      if (!visit(plan)) return seen;
    }
    auto digit = std::find_if(digits.begin(), digits.end(),
                              [&](size_t value) { return value + 1 < ops.size(); });
    if (digit == digits.end()) return seen;
    std::fill(digits.begin(), digit, 0);
    ++*digit;
  }
}

}  // namespace slotfuzz::interleave
