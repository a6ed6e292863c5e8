// Short names for the memory orders of the scenarios and litmus programs.
#pragma once

#include <atomic>

namespace slotfuzz::interleave {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcqRel = std::memory_order_acq_rel;

}  // namespace slotfuzz::interleave
