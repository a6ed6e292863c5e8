// Creation, resizing and sharing of storages.

#include "core/c10/storage_impl.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>

#include "core/c10/check.h"
#include "core/c10/impl/operation_tracer_tls.h"
#include "core/c10/live_counts.h"
#include "core/c10/trace.h"

namespace slotcore {
namespace {

// Two interpreters may share a storage at the same time: both turn its data into shares, or one of
// them asks for the context. One lock serves all storages: a thread holds it for a few
// instructions, and no user code runs meanwhile.
constinit std::mutex share_mutex;

}  // namespace

StorageImpl::StorageImpl(size_t nbytes, Allocator* allocator, bool resizable)
    : data_(allocator->allocate(nbytes)),
      nbytes_(nbytes),
      allocator_(allocator),
      resizable_(resizable) {
  live_storages.add();
  trace("impl created", {"impl", this}, {"type", "StorageImpl"}, {"bytes", nbytes_});
}

StorageImpl::StorageImpl(size_t nbytes, DataPtr data, bool resizable)
    : data_(std::move(data)), nbytes_(nbytes), resizable_(resizable) {
  live_storages.add();
  trace("impl created", {"impl", this, "  (external data)"}, {"type", "StorageImpl"},
        {"bytes", nbytes_});
}

StorageImpl::StorageImpl(size_t nbytes, Place place, bool resizable)
    : nbytes_(nbytes), resizable_(resizable), place_(std::move(place)) {
  SLOTCORE_CHECK(!place_.has_bytes());
  live_storages.add();
  trace("impl created", {"impl", this, "  (meta)"}, {"type", "StorageImpl"}, {"bytes", nbytes_});
}

StorageImpl::StorageImpl(const SymInt& nbytes, Place place, bool resizable)
    : StorageImpl(static_cast<size_t>(nbytes.value()), std::move(place), resizable) {
  if (nbytes.is_symbolic()) sym_nbytes_ = std::make_unique<const SymInt>(nbytes);
}

StorageImpl::~StorageImpl() {
  trace("impl freed", {"impl", this});
  live_storages.remove();
}

void StorageImpl::release_resources() noexcept {
  data_.clear();
  // Tables of the mode may refer to this storage, and so keep its memory: it must own neither the
  // mode nor an environment.
  sym_nbytes_.reset();
  impl::ModePtr mode = std::move(place_.mode);
  if (mode) place_.device = Device::kMeta;
}

void StorageImpl::resize(size_t nbytes) {
  impl::check_untraced("another size of a storage");
  if (!resizable_) throw std::runtime_error("this storage does not own its bytes: not resizable");
  if (pinned()) {
    trace("resize refused", {"impl", this}, {"bytes", nbytes_});
    throw PinnedError("the storage cannot be resized while its bytes are exported as a buffer");
  }
  if (!place_.has_bytes()) {
    nbytes_ = nbytes;
    sym_nbytes_.reset();
    return;
  }
  DataPtr fresh = allocator_->allocate(nbytes);
  if (size_t kept = std::min(nbytes, nbytes_); kept != 0)
    std::memcpy(fresh.get(), data_.get(), kept);
  nbytes_ = nbytes;
  std::swap(data_, fresh);
  trace("storage resized", {"impl", this}, {"bytes", nbytes_});
}

intrusive_ptr<StorageImpl> StorageImpl::share(size_t offset, size_t nbytes, bool stays) {
  size_t all = this->nbytes();
  std::lock_guard lock(share_mutex);
  if (offset > all || nbytes > all - offset) {
    throw std::out_of_range("bytes " + std::to_string(offset) + " to " +
                            std::to_string(offset + nbytes) + " are outside of a storage of " +
                            std::to_string(all) + " bytes");
  }
  // A share cannot grow in place, so it is resizable only if the original was: resize moves the
  // share to its own bytes.
  bool whole = offset == 0 && nbytes == all;
  bool resizable = resizable_ && whole && !stays;
  if (!place_.has_bytes()) return make_intrusive<StorageImpl>(nbytes, place_, resizable);
  return make_intrusive<StorageImpl>(nbytes, share_data(data_, offset), resizable);
}

void* StorageImpl::context_of(DataPtr::Deleter deleter, bool of_shared) const noexcept {
  std::lock_guard lock(share_mutex);
  if (!of_shared && shares_of(data_) > 1) return nullptr;
  const DataPtr& data = original_data(data_);
  return data.deleter() == deleter ? data.context() : nullptr;
}

StorageImpl::Shares StorageImpl::shares() const noexcept {
  std::lock_guard lock(share_mutex);
  const size_t number = shares_of(data_);
  return {number > 1 ? data_.context() : nullptr, number};
}

void StorageImpl::pin() noexcept {
  // Relaxed: pins and resize() run under the GIL of the interpreter that exports the bytes.
  pins_.fetch_add(1, std::memory_order_relaxed);
  trace("storage pinned", {"impl", this});
}

void StorageImpl::unpin() noexcept {
  uint32_t before = pins_.fetch_sub(1, std::memory_order_relaxed);  // as for pin
  trace("storage unpinned", {"impl", this});
  SLOTCORE_CHECK(before > 0);
}

bool StorageImpl::pinned() const noexcept {
  return pins_.load(std::memory_order_relaxed) != 0;  // as for pin
}

intrusive_ptr<StorageImpl> make_storage(size_t nbytes, const Place& place) {
  if (!place.has_bytes()) return make_intrusive<StorageImpl>(nbytes, place, /*resizable=*/true);
  return make_intrusive<StorageImpl>(nbytes, default_allocator(), /*resizable=*/true);
}

intrusive_ptr<StorageImpl> make_storage(const SymInt& nbytes, const Place& place) {
  if (!nbytes.is_symbolic()) return make_storage(static_cast<size_t>(nbytes.value()), place);
  return make_intrusive<StorageImpl>(nbytes, place, /*resizable=*/true);
}

}  // namespace slotcore
