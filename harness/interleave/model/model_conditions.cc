// The operations of condition variables: Note [Waiting for a condition].

#include <algorithm>

#include "harness/engine/check.h"
#include "harness/interleave/model/model.h"

namespace slotfuzz::interleave {

namespace {

uint64_t bit(int thread) { return uint64_t{1} << thread; }

}  // namespace

void Model::condition_choices(int thread, const Operation& operation, StoreId bound,
                              Choices* out) const {
  const Location& location = locations_[operation.location];
  const Thread& state = threads_[thread];
  const auto add = [&](StoreId id) { out->ids[out->count++] = id; };
  if (operation.action == Action::kWake) return add(state.woken_by);
  if (location.newest < bound) return;
  const uint64_t waiting = stores_[location.newest].value;
  if (operation.action != Action::kNotifyOne || waiting == 0) {
    add(location.newest);
  } else {
    for (int other = 0; other < kThreadsMax; ++other) {
      if ((waiting & bit(other)) != 0) add(threads_[other].joined);
    }
    // The thread that has waited longest comes first: it is what a schedule without bytes wakes.
    std::sort(out->ids, out->ids + out->count);
  }
  const bool may_be_spurious = operation.action == Action::kWait && state.spurious < kSpuriousMax;
  if (may_be_spurious && location.spurious >= bound) add(location.spurious);
}

StoreId Model::change_waiting(Thread& state, int thread, Location& location, uint64_t waiting) {
  const StoreId source = location.newest;
  CHECK(stores_[source].taker == kNoStore, "two operations of a condition read one store");
  // Relaxed: what this reads releases nothing.
  read(state, thread, std::memory_order_relaxed, source);
  const StoreId id = push_store(thread, location, waiting, source);
  stores_[id].release = Clock();
  stores_[source].taker = id;
  return id;
}

Model::Outcome Model::wait(Thread& state, int thread, const Operation& operation, StoreId choice) {
  Location& location = locations_[operation.location];
  if (choice == location.spurious) {
    ++state.spurious;
    read(state, thread, std::memory_order_relaxed, choice);
    return {0, false};
  }
  const uint64_t waiting = stores_[location.newest].value | bit(thread);
  state.joined = change_waiting(state, thread, location, waiting);
  return {0, true};
}

Model::Outcome Model::notify(Thread& state, int thread, const Operation& operation,
                             StoreId choice) {
  Location& location = locations_[operation.location];
  const uint64_t waiting = stores_[location.newest].value;
  uint64_t woken = waiting;
  if (operation.action == Action::kNotifyOne && waiting != 0) woken = bit(stores_[choice].thread);
  const StoreId id = change_waiting(state, thread, location, waiting & ~woken);
  for (int other = 0; other < kThreadsMax; ++other) {
    if ((woken & bit(other)) != 0) threads_[other].woken_by = id;
  }
  return {woken, false};
}

void Model::wake(Thread& state, int thread) {
  read(state, thread, std::memory_order_relaxed, state.woken_by);
  state.woken_by = kNoStore;
}

}  // namespace slotfuzz::interleave
