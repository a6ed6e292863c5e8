// MemoTable: fakes by the id of what they stand for. It keeps no fake alive, and notes with each
// from which description it was made.
//
// Note [No strong reference under the mutex]
// The owner's mutex is held while entries are read and written, and never while a strong reference
// is taken or dropped. The first may wait for the GIL, which another thread may hold that waits for
// the mutex. The second may run a `__del__` that converts again (M18). So a conversion copies weak
// references under the mutex, locks them outside, builds what is missing, and takes the mutex again
// to put it in. If the table has changed meanwhile, it starts again.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>

#include "core/meta/ids.h"

namespace slotcore::meta {

// An id of one source; see Document::source.
struct MemoKey {
  uint64_t source;
  int64_t id;
  bool operator==(const MemoKey&) const noexcept = default;
};

struct MemoHash {
  size_t operator()(const MemoKey& key) const noexcept {
    return static_cast<size_t>((key.source * 0x9E3779B97F4A7C15u) ^ static_cast<uint64_t>(key.id));
  }
};

// `Description` is what the user of the table compares with what it looks for.
template <class Fake, class Description>
class MemoTable {
 public:
  struct Entry {
    Entry(const intrusive_ptr<Fake>& fake, Description description)
        : fake(fake), description(std::move(description)) {
      note(1);
    }
    Entry(const Entry& other) : fake(other.fake), description(other.description) { note(1); }
    Entry& operator=(const Entry& other) {
      Entry copy(other);
      std::swap(fake, copy.fake);
      std::swap(description, copy.description);
      return *this;
    }
    ~Entry() { note(-1); }

    weak_intrusive_ptr<Fake> fake;
    Description description;

   private:
    void note(int places) noexcept {
      if constexpr (std::is_same_v<Fake, TensorImpl>) {
        Fake* target = fake.release();
        if (target == nullptr) return;
        target->change_table_entries(places);
        fake = weak_intrusive_ptr<Fake>::reclaim(target);
      }
    }
    EntryCount count_;
  };
  using Entries = std::unordered_map<MemoKey, Entry, MemoHash>;

  // A copy, which the caller locks outside; or nullopt.
  std::optional<Entry> find(const MemoKey& key) const {
    auto found = entries_.find(key);
    return found == entries_.end() ? std::nullopt : std::optional(found->second);
  }
  // Makes room for `count` more entries, so that put() cannot fail (M14).
  void reserve(size_t count) {
    if (limit_.is_reached(entries_.size() + count)) sweep();
    entries_.reserve(entries_.size() + count);
  }
  // Puts in all entries, instead of those of the same key. `added` has the former ones afterwards.
  void put(Entries& added) noexcept {
    for (auto at = added.begin(); at != added.end();) {
      auto next = std::next(at);
      if (auto former = entries_.extract(at->first); !former.empty()) {
        std::swap(former.mapped().fake, at->second.fake);
        std::swap(former.mapped().description, at->second.description);
        entries_.insert(std::move(former));
      } else {
        entries_.insert(added.extract(at));
      }
      at = next;
    }
  }
  // Removes the entries of dead fakes, and no other entry of the same key.
  void sweep() {
    std::erase_if(entries_, [](const auto& entry) { return entry.second.fake.expired(); });
    limit_.swept(entries_.size());
  }
  size_t size() const noexcept { return entries_.size(); }

 private:
  Entries entries_;
  SweepLimit limit_;
};

}  // namespace slotcore::meta
