// Data with several owners that know nothing of each other: storages of two interpreters over the
// same bytes (T2), or a slice of a storage.

#include "core/c10/data_ptr.h"

#include "core/c10/impl/protocol/share_count.h"
#include "core/c10/live_counts.h"

namespace slotcore {
namespace {

struct SharedData {
  SharedData() noexcept { live_blocks.add(); }
  SharedData(const SharedData&) = delete;
  SharedData& operator=(const SharedData&) = delete;
  ~SharedData() { live_blocks.remove(); }

  DataPtr original;
  impl::protocol::ShareCount<impl::protocol::StdPolicy> shares;
};

void drop_share(void* context) noexcept {
  auto* shared = static_cast<SharedData*>(context);
  if (shared->shares.drop()) delete shared;
}

}  // namespace

DataPtr share_data(DataPtr& data, size_t offset) {
  void* bytes = data.get();
  if (data.deleter() != &drop_share) {
    // The address in `data` is not written, so other threads may read the bytes meanwhile.
    auto* fresh = new SharedData();
    fresh->original = data.change_owner(fresh, &drop_share);
  }
  auto* shared = static_cast<SharedData*>(data.context());
  shared->shares.add();
  void* begin = bytes == nullptr ? nullptr : static_cast<char*>(bytes) + offset;
  return DataPtr(begin, shared, &drop_share);
}

size_t shares_of(const DataPtr& data) noexcept {
  if (data.deleter() != &drop_share) return 1;
  return static_cast<const SharedData*>(data.context())->shares.number();
}

const DataPtr& original_data(const DataPtr& data) noexcept {
  if (data.deleter() != &drop_share) return data;
  return static_cast<const SharedData*>(data.context())->original;
}

}  // namespace slotcore
