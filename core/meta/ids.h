// IdTable: impls and their ids. It keeps no impl alive: an entry is a weak reference, which pins
// the shell of a dead impl, so that the address of the impl cannot come back while the entry
// stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/c10/live_counts.h"
#include "core/c10/tensor/tensor_impl.h"

namespace slotcore::meta {

// Counts an entry of a table, for the ledger (P5).
class EntryCount {
 public:
  EntryCount() noexcept { live_table_entries.add(); }
  EntryCount(const EntryCount&) noexcept : EntryCount() {}
  EntryCount& operator=(const EntryCount&) noexcept = default;
  ~EntryCount() { live_table_entries.remove(); }
};

// When a table is swept: it has doubled since the last sweep (M3). The constant spares small
// tables.
class SweepLimit {
 public:
  bool is_reached(size_t size) const noexcept { return size > limit_; }
  void swept(size_t size) noexcept { limit_ = 2 * size + kFree; }

 private:
  static constexpr size_t kFree = 16;
  size_t limit_ = kFree;
};

// The owner has a mutex. Nothing here runs user code: no strong reference is taken or dropped, and
// what a dead impl owned is gone already.
// Nothing that hashes an address is inlined: harness/unguided.txt names these functions.
template <class T>
class IdTable {
 public:
  IdTable() = default;
  IdTable(const IdTable&) = delete;
  IdTable& operator=(const IdTable&) = delete;

  // The id of an impl that the caller owns; a new one if it has none. Ids only count up: none is
  // given twice (M3).
  [[gnu::noinline]] int64_t id_of(const intrusive_ptr<T>& impl) {
    auto found = entries_.find(impl.get());
    if (found != entries_.end()) return found->second.id;
    if (limit_.is_reached(entries_.size() + 1)) sweep();
    entries_.try_emplace(impl.get(), impl, next_id_);
    return next_id_++;
  }
  // The next new id, and how to remove the entries that were made since: their ids are not given
  // again.
  int64_t next_id() const noexcept { return next_id_; }
  [[gnu::noinline]] void remove_since(int64_t id) noexcept {
    std::erase_if(entries_, [id](const auto& entry) { return entry.second.id >= id; });
  }
  // Removes the entries of dead impls.
  [[gnu::noinline]] void sweep() {
    std::erase_if(entries_, [](const auto& entry) { return entry.second.impl.expired(); });
    limit_.swept(entries_.size());
  }
  size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    Entry(const intrusive_ptr<T>& impl, int64_t id) : impl(impl), id(id) { note(impl.get(), 1); }
    ~Entry() {
      if (T* target = impl.release(); target != nullptr) {
        note(target, -1);
        impl = weak_intrusive_ptr<T>::reclaim(target);
      }
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    // A description must not be what forbids an exchange of the tensor.
    static void note(T* target, int places) noexcept {
      if constexpr (std::is_same_v<T, TensorImpl>) target->change_table_entries(places);
    }

    weak_intrusive_ptr<T> impl;
    int64_t id;
    EntryCount count;
  };

  std::unordered_map<const T*, Entry> entries_;
  SweepLimit limit_;
  int64_t next_id_ = 0;
};

}  // namespace slotcore::meta
