// The map of life-cycle states, which guides the search where code is not instrumented. It has
// counters for two things: which op left how many owners, in which mode, and whether it got an
// object of another lane; and each reached combination of owners, Python references, mode and
// class.
#pragma once

#include <cstdint>
#include <span>

#include "harness/engine/judge/tracker.h"

namespace slotfuzz {

// One byte each; libFuzzer reads them as extra counters.
inline constexpr std::size_t kStateCounters = 8192;

class StateMap {
 public:
  StateMap(const OpTable& table, const Layout& layout,
           std::span<std::uint8_t, kStateCounters> states);

  // After a line.
  void mark(const Line& line, const Tracker& tracker);

 private:
  const OpTable& table_;
  const Layout& layout_;
  const std::span<std::uint8_t, kStateCounters> states_;
  // The index of the first counter by op; the states of wrappers come before it.
  const std::size_t first_of_ops_;
};

}  // namespace slotfuzz
