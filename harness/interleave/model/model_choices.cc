// The stores that an operation may read, or go behind: what coherence and happens-before allow.

#include "harness/interleave/model/model.h"

namespace slotfuzz::interleave {

namespace {

bool may_choose(const Operation& operation, const Store& store) {
  if (operation.action == Action::kLoad) return true;
  return store.taker == kNoStore || !would_write(operation, store);
}

}  // namespace

// The oldest store that the thread may still read: the newest one that it wrote or read itself, or
// that happens before it, or that a read which happens before it has seen.
StoreId Model::floor_of(int thread, const Location& location) const {
  const Clock& happens = threads_[thread].happens;
  StoreId id = location.newest;
  while (!stores_[id].seen.reaches_any_of(happens) && stores_[id].older != kNoStore) {
    id = stores_[id].older;
  }
  return id;
}

void Model::choices(int thread, const Operation& operation, StoreId bound, Choices* out) {
  const Location& location = locations_[operation.location];
  out->count = 0;
  if (is_of_condition(operation.action)) {
    return condition_choices(thread, operation, bound, out);
  }
  if (operation.action == Action::kLock || operation.action == Action::kUnlock ||
      is_plain(operation.action)) {
    // No choice. A lock can run only after the last unlock of its mutex.
    if (operation.action != Action::kLock || location.newest >= bound) {
      out->ids[out->count++] = location.newest;
    }
    return;
  }
  const StoreId floor = floor_of(thread, location);
  for (StoreId id = location.newest;; id = stores_[id].older) {
    if (id >= bound && may_choose(operation, stores_[id])) {
      if (out->count == kChoicesMax) {
        full_ = true;
        return;
      }
      out->ids[out->count++] = id;
    }
    if (id == floor) return;
  }
}

bool Model::has_choice(int thread, const Operation& operation, StoreId bound) const {
  const Location& location = locations_[operation.location];
  if (bound == 0) return true;
  if (location.pushed < bound) return false;
  if (operation.action == Action::kLock) return true;
  const StoreId floor = floor_of(thread, location);
  for (StoreId id = location.newest;; id = stores_[id].older) {
    if (id >= bound && may_choose(operation, stores_[id])) return true;
    if (id == floor) return false;
  }
}

void Model::taken_sources(int thread, const Operation& operation, Choices* out) const {
  const Location& location = locations_[operation.location];
  out->count = 0;
  const StoreId floor = floor_of(thread, location);
  for (StoreId id = location.newest;; id = stores_[id].older) {
    const Store& store = stores_[id];
    if (store.taker != kNoStore && would_write(operation, store) && out->count < kChoicesMax) {
      out->ids[out->count++] = id;
    }
    if (id == floor) return;
  }
}

}  // namespace slotfuzz::interleave
