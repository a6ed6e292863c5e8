// How many impls exist: created minus destroyed. The ledger of a test or a fuzzer compares the
// counts before and after (P5). A process has one ledger, hence the globals.
#pragma once

#include <atomic>
#include <cstdint>

namespace slotcore {

class LiveCount {
 public:
  // Relaxed: a count orders nothing. A thread that compares counts has joined the others before.
  void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void remove() noexcept { count_.fetch_sub(1, std::memory_order_relaxed); }
  int64_t value() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> count_{0};
};

inline constinit LiveCount live_storages;
inline constinit LiveCount live_tensors;
inline constinit LiveCount live_nodes;
inline constinit LiveCount live_blocks;  // of memory, and buffers of Python, that storages own
inline constinit LiveCount live_table_entries;  // of the tables of core/meta
inline constinit LiveCount live_modes;          // of core/meta
inline constinit LiveCount live_saved_variables;
inline constinit LiveCount live_graph_tasks;
inline constinit LiveCount queued_node_tasks;  // of backwards: nodes that wait for a thread

}  // namespace slotcore
