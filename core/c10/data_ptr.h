// DataPtr: bytes and the deleter that frees them. The deleter receives the context, which may
// differ from the data (a Python buffer, a share of other data).
#pragma once

#include <cstddef>
#include <utility>

namespace slotcore {

class DataPtr {
 public:
  using Deleter = void (*)(void* context) noexcept;

  constexpr DataPtr() noexcept = default;
  DataPtr(void* data, void* context, Deleter deleter) noexcept
      : data_(data), context_(context), deleter_(deleter) {}
  DataPtr(DataPtr&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        context_(std::exchange(other.context_, nullptr)),
        deleter_(std::exchange(other.deleter_, nullptr)) {}
  // By value: the former data is deleted after this object holds the new data.
  DataPtr& operator=(DataPtr other) noexcept {
    std::swap(data_, other.data_);
    std::swap(context_, other.context_);
    std::swap(deleter_, other.deleter_);
    return *this;
  }
  ~DataPtr() { clear(); }

  // Runs the deleter, once.
  void clear() noexcept {
    data_ = nullptr;
    if (Deleter deleter = std::exchange(deleter_, nullptr); deleter != nullptr)
      deleter(std::exchange(context_, nullptr));
  }

  // Gives the bytes another owner and returns the former one. The address is not written, so other
  // threads may read it meanwhile.
  DataPtr change_owner(void* context, Deleter deleter) noexcept {
    return DataPtr(data_, std::exchange(context_, context), std::exchange(deleter_, deleter));
  }

  void* get() const noexcept { return data_; }
  void* context() const noexcept { return context_; }
  Deleter deleter() const noexcept { return deleter_; }

 private:
  void* data_ = nullptr;
  void* context_ = nullptr;
  Deleter deleter_ = nullptr;
};

// Turns `data` into one share of itself, and returns a second share that begins `offset` bytes into
// it. The thread that drops the last share runs the deleter. The caller keeps other threads away
// from `data`; afterwards the shares are independent of each other.
DataPtr share_data(DataPtr& data, size_t offset);

// How many have a share of these bytes: `data` and others, whose context() is the same.
size_t shares_of(const DataPtr& data) noexcept;

// The data that `data` is a share of, or itself if it is not shared.
const DataPtr& original_data(const DataPtr& data) noexcept;

}  // namespace slotcore
