// Data with several owners that know nothing of each other: storages of two interpreters over the
// same bytes (T2), or a slice of a storage.

#include "core/c10/data_ptr.h"

#include <atomic>

namespace slotcore {
namespace {

struct SharedData {
  explicit SharedData(DataPtr data) noexcept : original(std::move(data)) {}

  DataPtr original;
  std::atomic<size_t> shares{1};
};

void drop_share(void* context) noexcept {
  auto* shared = static_cast<SharedData*>(context);
  // One operation, whose result decides: a decrement and a second look would let two threads
  // both see 0. Release: my writes to the bytes come before their deletion; acquire: I see theirs.
  if (shared->shares.fetch_sub(1, std::memory_order_acq_rel) == 1) delete shared;
}

}  // namespace

DataPtr share_data(DataPtr& data, size_t offset) {
  void* bytes = data.get();
  if (data.deleter() != &drop_share) {
    auto* fresh = new SharedData(std::move(data));
    data = DataPtr(bytes, fresh, &drop_share);
  }
  auto* shared = static_cast<SharedData*>(data.context());
  // Relaxed: the caller's own share keeps the context alive.
  shared->shares.fetch_add(1, std::memory_order_relaxed);
  void* begin = bytes == nullptr ? nullptr : static_cast<char*>(bytes) + offset;
  return DataPtr(begin, shared, &drop_share);
}

}  // namespace slotcore
