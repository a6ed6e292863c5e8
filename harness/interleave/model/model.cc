// What an operation does once its store is chosen: what it reads, where its own store goes, and
// what synchronizes. The choices are in model_choices.cc. The lifetime of locations and plain
// memory are in model_locations.cc.

#include "harness/interleave/model/model.h"

#include "harness/engine/check.h"

namespace slotfuzz::interleave {

namespace {

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_consume;
}

bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel;
}

uint64_t mask_of(uint8_t bytes) {
  return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1;
}

uint64_t modified(const Operation& operation, uint64_t old) {
  switch (operation.action) {
    case Action::kExchange:
    case Action::kCompareExchange: return operation.operand;
    case Action::kAdd: return old + operation.operand;
    case Action::kSubtract: return old - operation.operand;
    case Action::kOr: return old | operation.operand;
    case Action::kLoad:
    case Action::kStore:
    case Action::kWait:
    case Action::kNotifyOne:
    case Action::kNotifyAll:
    case Action::kWake:
    case Action::kLock:
    case Action::kUnlock:
    case Action::kPlainLoad:
    case Action::kPlainStore: break;
  }
  CHECK(false, "not a read-modify-write: " << static_cast<int>(operation.action));
  return 0;
}

uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t event_of(int thread, int time) {
  return static_cast<uint64_t>(thread + 1) << 16 | static_cast<uint16_t>(time);
}

uint64_t edge(uint64_t kind, uint64_t from, uint64_t to) {
  return mixed(mixed(from << 8 | kind) + to);
}

}  // namespace

const char* name_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::kCheck: return "check";
    case FailureKind::kRace: return "race";
    case FailureKind::kUseAfterFree: return "use after free";
    case FailureKind::kDoubleFree: return "double free";
    case FailureKind::kLeak: return "leak";
    case FailureKind::kDeadlock: return "deadlock";
    case FailureKind::kMutexMisuse: return "mutex misuse";
    case FailureKind::kUnsupported: return "unsupported";
  }
  CHECK(false, "no such kind of failure: " << static_cast<int>(kind));
  return "";
}

std::string words_of(const std::string& contract, const std::string& message) {
  return contract.empty() ? message : contract + ": " + message;
}

Model::Model() : stores_(kStoresMax) { locations_.reserve(64); }

void Model::reset() {
  locations_.clear();
  store_count_ = 0;
  step_count_ = 0;
  full_ = false;
  faulty_ = false;
  reads_print_ = 0;
}

void Model::begin_thread(int thread) { threads_[thread] = Thread(); }

void Model::fail(FailureKind kind, std::string message, std::string contract) {
  if (faulty_) return;
  faulty_ = true;
  fault_ = {kind, std::move(contract), std::move(message)};
}

void Model::fence(int thread, std::memory_order order) {
  if (thread == kNobody) return;
  if (order == std::memory_order_seq_cst) {
    fail(FailureKind::kUnsupported, "a sequentially consistent fence is not modelled");
    return;
  }
  Thread& state = threads_[thread];
  // The fence is a separate event: it does not release plain accesses that come after it.
  if (++state.time >= kNever - 1) full_ = true;
  state.happens.set(thread, state.time);
  if (acquires(order)) state.happens.join(state.acquirable);
  if (releases(order)) state.released = state.happens;
}

StoreId Model::push_store(int thread, Location& location, uint64_t value, StoreId behind) {
  // The last place is overwritten: the execution is given up before anything reads it.
  if (store_count_ == kStoresMax - 1) full_ = true;
  const auto id = static_cast<StoreId>(full_ ? kStoresMax - 1 : store_count_++);
  Store& store = stores_[id];
  store.value = value & mask_of(location.bytes);
  store.older = behind;
  store.newer = behind == kNoStore ? kNoStore : stores_[behind].newer;
  store.taker = kNoStore;
  store.thread = static_cast<int16_t>(thread);
  if (thread == kNobody) {
    store.seen = Clock();
    store.release = Clock();
    store.cause = Clock();
    store.step = -1;
    store.time = id;
  } else {
    const Thread& state = threads_[thread];
    store.seen = Clock::all(kNever);
    store.seen.set(thread, state.time);
    store.cause = state.cause;
    store.step = static_cast<int16_t>(step_count_ - 1);
    store.time = state.time;
  }
  if (behind != kNoStore) stores_[behind].newer = id;
  if (store.newer != kNoStore) {
    stores_[store.newer].older = id;
  } else {
    location.newest = id;
  }
  location.pushed = id;
  return id;
}

void Model::read(Thread& state, int thread, std::memory_order order, StoreId source) {
  Store& store = stores_[source];
  if (store.seen[thread] > state.time) store.seen.set(thread, state.time);
  if (acquires(order)) {
    state.happens.join(store.release);
  } else {
    state.acquirable.join(store.release);
  }
  state.cause.join(store.cause);
  if (fingerprinting_) {
    reads_print_ += edge(1, event_of(thread, state.time), event_of(store.thread, store.time));
  }
}

// With a source other than kNoStore, the write is half of a read-modify-write and continues the
// release sequence of its source.
void Model::write(Thread& state, int thread, const Operation& operation, std::memory_order order,
                  uint64_t value, StoreId behind, StoreId source) {
  const StoreId id = push_store(thread, locations_[operation.location], value, behind);
  Store& store = stores_[id];
  store.release = releases(order) ? state.happens : state.released;
  if (source != kNoStore) {
    store.release.join(stores_[source].release);
    stores_[source].taker = id;
  }
}

Model::Outcome Model::modify(Thread& state, int thread, const Operation& operation,
                             StoreId source) {
  const uint64_t old = stores_[source].value;
  if (!would_write(operation, stores_[source])) {
    read(state, thread, operation.failure_order, source);
    return {old, false};
  }
  CHECK(stores_[source].taker == kNoStore, "two read-modify-writes read one store");
  read(state, thread, operation.order, source);
  write(state, thread, operation, operation.order, modified(operation, old), source, source);
  return {old, true};
}

void Model::lock(Thread& state, int thread, const Operation& operation) {
  Location& location = locations_[operation.location];
  CHECK(location.holder == kNobody, "a held mutex was locked");
  location.holder = static_cast<int16_t>(thread);
  read(state, thread, std::memory_order_acquire, location.newest);
}

void Model::unlock(Thread& state, int thread, const Operation& operation) {
  Location& location = locations_[operation.location];
  if (location.holder != thread) {
    fail(FailureKind::kMutexMisuse,
         name_of_location(operation.location) + " was unlocked by a thread that did not hold it");
    return;
  }
  location.holder = kNobody;
  write(state, thread, operation, std::memory_order_release, 0, location.newest, kNoStore);
}

void Model::refuse(const Operation& operation) {
  fail(FailureKind::kUnsupported,
       name_of_location(operation.location) + ": sequentially consistent order is not modelled");
}

Model::Outcome Model::perform(int thread, const Operation& operation, StoreId choice) {
  if (!may_touch(thread, operation.location)) return {};
  if (operation.order == std::memory_order_seq_cst ||
      operation.failure_order == std::memory_order_seq_cst) [[unlikely]] {
    refuse(operation);
    return {};
  }
  if (thread == kNobody) return perform_alone(operation);
  if (is_plain(operation.action)) {
    ++step_count_;
    plain_access(thread, operation.location, operation.action == Action::kPlainStore);
    return {};
  }
  Thread& state = threads_[thread];
  if (++step_count_ >= kStepsMax) full_ = true;
  ++state.time;
  state.happens.set(thread, state.time);
  state.cause.set(thread, static_cast<int16_t>(step_count_));
  locations_[operation.location].accessed.set(thread, state.time);
  switch (operation.action) {
    case Action::kLoad:
      read(state, thread, operation.order, choice);
      return {stores_[choice].value, false};
    case Action::kStore:
      write(state, thread, operation, operation.order, operation.operand, choice, kNoStore);
      return {};
    case Action::kExchange:
    case Action::kAdd:
    case Action::kSubtract:
    case Action::kOr:
    case Action::kCompareExchange: return modify(state, thread, operation, choice);
    case Action::kWait: return wait(state, thread, operation, choice);
    case Action::kNotifyOne:
    case Action::kNotifyAll: return notify(state, thread, operation, choice);
    case Action::kWake: wake(state, thread); return {};
    case Action::kLock: lock(state, thread, operation); return {};
    case Action::kUnlock: unlock(state, thread, operation); return {};
    case Action::kPlainLoad:
    case Action::kPlainStore: break;
  }
  CHECK(false, "no such action: " << static_cast<int>(operation.action));
  return {};
}

// The set-up and the finish run alone: they read the newest store.
Model::Outcome Model::perform_alone(const Operation& operation) {
  Location& location = locations_[operation.location];
  const uint64_t old = location.newest == kNoStore ? 0 : stores_[location.newest].value;
  if (operation.action == Action::kLock || operation.action == Action::kUnlock) {
    // No other thread runs, so no thread can notice; only the pairing could be wrong.
    return {};
  }
  if (is_of_condition(operation.action)) {
    if (operation.action != Action::kWait) return {};
    fail(FailureKind::kDeadlock,
         "a wait for " + name_of_location(operation.location) + " while no other thread runs");
    return {};
  }
  if (is_plain(operation.action) || operation.action == Action::kLoad) return {old, false};
  if (operation.action == Action::kStore) {
    push_store(kNobody, location, operation.operand, location.newest);
    return {};
  }
  const StoreId source = location.newest;
  if (!would_write(operation, stores_[source])) return {old, false};
  push_store(kNobody, location, modified(operation, old), source);
  stores_[source].taker = location.newest;
  return {old, true};
}

uint64_t Model::fingerprint() const {
  uint64_t sum = reads_print_;
  for (int id = 0; id < store_count_; ++id) {
    const Store& store = stores_[id];
    if (store.older == kNoStore) continue;
    const Store& older = stores_[store.older];
    sum += edge(2, event_of(store.thread, store.time), event_of(older.thread, older.time));
  }
  return sum;
}

}  // namespace slotfuzz::interleave
