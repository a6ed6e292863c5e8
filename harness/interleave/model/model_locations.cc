// The lifetime of locations, and plain memory: which thread may access what, by happens-before.

#include "harness/engine/check.h"
#include "harness/interleave/model/model.h"

namespace slotfuzz::interleave {

namespace {
constexpr int kLocationsMax = 10000;
}  // namespace

// What is ordered before the next access of a thread: its own accesses, and what happens before.
Clock Model::limit_of(int thread) const {
  if (thread == kNobody) return Clock::all(kNever);
  Clock limit = threads_[thread].happens;
  limit.set(thread, kNever);
  return limit;
}

std::string Model::name_of_location(int16_t id) const {
  if (!knows(id)) return "memory never constructed";
  const Location& location = locations_[id];
  if (location.name != nullptr) return location.name;
  switch (location.kind) {
    case LocationKind::kAtomic: return "atomic " + std::to_string(id);
    case LocationKind::kPlain: return "plain " + std::to_string(id);
    case LocationKind::kMutex: return "mutex " + std::to_string(id);
    case LocationKind::kCondition: return "condition " + std::to_string(id);
  }
  CHECK(false, "no such kind of location: " << static_cast<int>(location.kind));
  return "";
}

int16_t Model::construct(int thread, LocationKind kind, uint64_t value, uint8_t bytes,
                         bool is_pointer) {
  const auto id = static_cast<int16_t>(locations_.size());
  // A program that makes so many locations is in a loop: its execution ends at the next operation.
  if (id == kLocationsMax) {
    full_ = true;
    return static_cast<int16_t>(id - 1);
  }
  Location& location = locations_.emplace_back();
  location.kind = kind;
  location.alive = true;
  location.is_pointer = is_pointer;
  location.bytes = bytes;
  location.holder = kNobody;
  location.newest = kNoStore;
  location.pushed = kNoStore;
  location.spurious = kNoStore;
  location.born_thread = static_cast<int16_t>(thread);
  location.born_time = 0;
  location.name = nullptr;
  if (thread != kNobody) {
    location.born_time = static_cast<int16_t>(threads_[thread].time + 1);
    if (kind == LocationKind::kPlain) location.written.set(thread, location.born_time);
  }
  if (kind == LocationKind::kCondition) {
    location.spurious = push_store(kNobody, location, value, kNoStore);
  }
  if (kind != LocationKind::kPlain) {
    const StoreId first = push_store(kNobody, location, value, location.spurious);
    // Numbered by the thread that made it, so that fingerprints do not depend on the order of
    // execution.
    if (thread != kNobody) {
      stores_[first].time = static_cast<int16_t>(-1 - thread * kStepsMax - location.born_time);
    }
  }
  return id;
}

bool Model::may_touch_late(int thread, int16_t id) {
  if (!knows(id)) {
    fail(FailureKind::kUseAfterFree, "an access to memory that was never constructed");
    return false;
  }
  const Location& location = locations_[id];
  if (!location.alive) {
    fail(FailureKind::kUseAfterFree, name_of_location(id) + " was used after it was freed");
    return false;
  }
  if (location.born_time > 0 && thread != kNobody && location.born_thread != thread &&
      threads_[thread].happens[location.born_thread] < location.born_time) {
    fail(
        FailureKind::kRace,
        name_of_location(id) + " was used by a thread that its construction is not ordered before");
    return false;
  }
  return true;
}

// A plain access lies between two operations of its thread and has the time of the later one. It
// happens before what that operation, or a later one, releases to.
void Model::plain_access(int thread, int16_t id, bool writes) {
  if (!may_touch(thread, id) || thread == kNobody) return;
  Location& location = locations_[id];
  const Clock limit = limit_of(thread);
  const auto time = static_cast<int16_t>(threads_[thread].time + 1);
  if (location.written.exceeds(limit)) {
    fail(FailureKind::kRace, name_of_location(id) +
                                 (writes ? ": two writes" : ": a read and a write") +
                                 " that are not ordered");
    return;
  }
  if (!writes) {
    location.accessed.set(thread, time);
    return;
  }
  if (location.accessed.exceeds(limit)) {
    fail(FailureKind::kRace, name_of_location(id) + ": a write and a read that are not ordered");
    return;
  }
  location.written = Clock();
  location.written.set(thread, time);
}

void Model::destroy(int thread, int16_t id) {
  if (!knows(id)) {
    fail(FailureKind::kDoubleFree, "memory that was never constructed was freed");
    return;
  }
  Location& location = locations_[id];
  if (!location.alive) {
    fail(FailureKind::kDoubleFree, name_of_location(id) + " was freed twice");
    return;
  }
  if (!may_touch(thread, id)) return;
  const Clock limit = limit_of(thread);
  if (location.accessed.exceeds(limit) || location.written.exceeds(limit)) {
    fail(FailureKind::kUseAfterFree,
         name_of_location(id) + " was freed while an access to it is not ordered before");
    return;
  }
  if (location.holder != kNobody) {
    fail(FailureKind::kMutexMisuse, name_of_location(id) + " was freed while it was held");
    return;
  }
  location.alive = false;
}

int16_t Model::first_alive() const {
  for (size_t id = 0; id < locations_.size(); ++id) {
    if (locations_[id].alive) return static_cast<int16_t>(id);
  }
  return -1;
}

}  // namespace slotfuzz::interleave
