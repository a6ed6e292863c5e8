// The rows of a printed execution.

#include <algorithm>
#include <cstdio>
#include <string>

#include "harness/engine/check.h"
#include "harness/interleave/model/model_run.h"

namespace slotfuzz::interleave {

namespace {

const char* name_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed: return "relaxed";
    case std::memory_order_consume: return "consume";
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    case std::memory_order_seq_cst: return "seq_cst";
  }
  CHECK(false, "no such order: " << static_cast<int>(order));
  return "";
}

const char* name_of(Action action) {
  switch (action) {
    case Action::kLoad: return "load";
    case Action::kStore: return "store";
    case Action::kExchange: return "exchange";
    case Action::kAdd: return "fetch_add";
    case Action::kSubtract: return "fetch_sub";
    case Action::kOr: return "fetch_or";
    case Action::kCompareExchange: return "compare_exchange";
    case Action::kWait: return "wait";
    case Action::kNotifyOne: return "notify_one";
    case Action::kNotifyAll: return "notify_all";
    case Action::kLock: return "lock";
    case Action::kUnlock: return "unlock";
    case Action::kWake: return "wake";
    case Action::kPlainLoad: return "read";
    case Action::kPlainStore: return "write";
  }
  CHECK(false, "no such action: " << static_cast<int>(action));
  return "";
}

constexpr uint64_t kLarge = uint64_t{1} << 32;

bool has_order(Action action) {
  return action != Action::kLock && action != Action::kUnlock && !is_plain(action) &&
         !is_of_condition(action);
}

// What an operation of a condition did, instead of the values that it read and wrote.
std::string text_of_condition(Action action, const Model::Outcome& outcome) {
  if (action == Action::kWake) return "";
  if (action == Action::kWait) return outcome.exchanged ? "waits" : "wakes spuriously";
  if (outcome.value == 0) return "no thread waits";
  std::string text = "wakes";
  for (int thread = 0; thread < kThreadsMax; ++thread) {
    if ((outcome.value >> thread & 1) != 0) text += " " + std::to_string(thread);
  }
  return text;
}

}  // namespace

std::string Execution::text_of(const Location& location, uint64_t value) {
  if (!location.is_pointer) {
    if (value < kLarge) return std::to_string(value);
    // Packed words, such as the counts with their bit.
    char digits[2 + 16 + 1];
    std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(value));
    return digits;
  }
  if (value == 0) return "null";
  auto found = std::find(pointers_.begin(), pointers_.end(), value);
  if (found == pointers_.end()) found = pointers_.insert(found, value);
  return "#" + std::to_string(found - pointers_.begin() + 1);
}

void Execution::add_row(int thread, const Operation& operation, StoreId choice,
                        const Model::Outcome& outcome) {
  TraceRow row{model_.step_count(),
               thread,
               line_of(thread),
               model_.name_of_location(operation.location),
               name_of(operation.action),
               "",
               false,
               ""};
  if (model_.has_fault()) {
    row.note = model_.fault().words();
    trace_.push_back(std::move(row));
    return;
  }
  if (is_of_condition(operation.action)) {
    row.value = text_of_condition(operation.action, outcome);
    trace_.push_back(std::move(row));
    return;
  }
  const Location& location = model_.location(operation.location);
  const bool wrote = operation.action == Action::kStore ||
                     (modifies(operation.action) &&
                      (operation.action != Action::kCompareExchange || outcome.exchanged));
  if (has_order(operation.action)) {
    const bool failed = operation.action == Action::kCompareExchange && !outcome.exchanged;
    row.operation += std::string(" ") + name_of(failed ? operation.failure_order : operation.order);
    if (failed) row.operation += ", failed";
  }
  if (reads(operation.action) && operation.action != Action::kLock) {
    row.value = "sees " + text_of(location, outcome.value);
    // A read-modify-write puts its store behind the one that it read.
    StoreId newer = model_.store(choice).newer;
    if (wrote) newer = model_.store(newer).newer;
    row.stale = newer != kNoStore;
  }
  if (wrote) {
    const Store& store = model_.store(static_cast<StoreId>(model_.store_count() - 1));
    row.value += (row.value.empty() ? "" : ", ") + ("writes " + text_of(location, store.value));
    if (store.newer != kNoStore) {
      row.stale = true;
      row.note = "goes before a store that was made earlier";
    }
  }
  if (row.stale && row.note.empty()) row.note = "a newer store was there";
  trace_.push_back(std::move(row));
}

void Execution::add_note(std::string location, std::string operation, std::string note) {
  trace_.push_back({0, running_, line_of(running_), std::move(location), std::move(operation),
                    std::move(note), false, model_.has_fault() ? model_.fault().words() : ""});
}

}  // namespace slotfuzz::interleave
