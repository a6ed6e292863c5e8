// StorageImpl: bytes with a size, shared by tensors, with a slot for the Python wrapper.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>

#include "core/c10/allocator.h"
#include "core/c10/data_ptr.h"
#include "core/c10/intrusive_ptr.h"
#include "core/c10/place.h"
#include "core/c10/shapes/sym_int.h"

namespace slotcore {

// The bytes may not move now, because code outside of the storage holds their address.
class PinnedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class StorageImpl final : public intrusive_ptr_target {
 public:
  // Bytes from an allocator. A resizable storage goes back to it in resize().
  StorageImpl(size_t nbytes, Allocator* allocator, bool resizable);
  // Bytes that exist already. The deleter of `data` frees them.
  StorageImpl(size_t nbytes, DataPtr data, bool resizable);
  // A size without bytes, at a place that has none.
  StorageImpl(size_t nbytes, Place place, bool resizable);
  // The same with a size that may be symbolic.
  StorageImpl(const SymInt& nbytes, Place place, bool resizable);
  ~StorageImpl() override;

  impl::PyObjectSlot* pyobj_slot() noexcept override { return &slot_; }

  // Decides a symbolic size.
  size_t nbytes() const {
    return sym_nbytes_ == nullptr ? nbytes_ : static_cast<size_t>(sym_nbytes_->specialize());
  }
  SymInt sym_nbytes() const {
    return sym_nbytes_ == nullptr ? SymInt(static_cast<int64_t>(nbytes_)) : *sym_nbytes_;
  }
  bool is_symbolic() const noexcept { return sym_nbytes_ != nullptr; }
  void* data() const noexcept { return data_.get(); }
  Allocator* allocator() const noexcept { return allocator_; }
  bool resizable() const noexcept { return resizable_; }
  // Where the tensors over it are.
  const Place& place() const noexcept { return place_; }
  // Where the bytes are. A fake's storage is on meta, whatever the fake says.
  Device device() const noexcept { return place_.has_bytes() ? Device::kCpu : Device::kMeta; }

  // How often what a storage without bytes stands for was written: each write may change what data
  // would decide.
  uint64_t writes() const noexcept { return writes_.load(std::memory_order_relaxed); }
  void note_write() noexcept {
    if (!place_.has_bytes()) writes_.fetch_add(1, std::memory_order_relaxed);
  }

  // Moves the content to a block of another size; bytes that fit are kept, new bytes are zero. On
  // meta, only changes the number.
  // Throws AllocationError, PinnedError, or runtime_error when the storage is not resizable.
  void resize(size_t nbytes);

  // A new storage over `nbytes` of the same bytes, from `offset` on. It shares the data, not the
  // StorageImpl: either may be resized or destroyed without the other (T2). With `stays` the new
  // storage is not resizable. Throws out_of_range.
  intrusive_ptr<StorageImpl> share(size_t offset, size_t nbytes, bool stays = false);

  // The context that `deleter` will receive for these bytes, or null if they have another deleter.
  // Null as well while others share the bytes, unless `of_shared`. Another interpreter may share
  // them meanwhile.
  void* context_of(DataPtr::Deleter deleter, bool of_shared) const noexcept;

  // How many storages share these bytes, and the address by which they know each other. The address
  // is null if there are no others.
  struct Shares {
    const void* of;
    size_t number;
  };
  Shares shares() const noexcept;

  // While pinned, the bytes neither move nor change size. Pins are counted.
  void pin() noexcept;
  void unpin() noexcept;
  bool pinned() const noexcept;

 protected:
  void release_resources() noexcept override;

 private:
  DataPtr data_;
  size_t nbytes_;
  std::unique_ptr<const SymInt> sym_nbytes_;  // of a fake's storage; null for a plain number
  Allocator* allocator_ = default_allocator();
  impl::PyObjectSlot slot_;
  std::atomic<uint32_t> pins_{0};
  bool resizable_;
  Place place_;
  // Relaxed, all accesses: the number orders nothing.
  std::atomic<uint64_t> writes_{0};
};

// A new, resizable, zero-filled storage. Throws AllocationError.
intrusive_ptr<StorageImpl> make_storage(size_t nbytes, const Place& place = {});
// At a place without bytes, if the size is symbolic.
intrusive_ptr<StorageImpl> make_storage(const SymInt& nbytes, const Place& place);

}  // namespace slotcore
