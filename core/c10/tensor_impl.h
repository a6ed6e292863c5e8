// TensorImpl: a strided view of a storage, which it owns together with other tensors, and a
// gradient, which it owns too.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "core/c10/scalar_type.h"
#include "core/c10/storage_impl.h"

namespace slotcore {

// Sizes or strides. Inline, because every program makes many small tensors.
class Dims {
 public:
  // No tensor has more dimensions. torch allows 64; nothing here needs them, and they would cost
  // each impl a kilobyte.
  static constexpr size_t kLengthMax = 8;

  Dims() noexcept = default;
  // Throws length_error beyond kLengthMax.
  explicit Dims(std::span<const int64_t> values);
  Dims(std::initializer_list<int64_t> values) : Dims(std::span(values.begin(), values.size())) {}

  size_t size() const noexcept { return length_; }
  int64_t operator[](size_t index) const noexcept { return values_[index]; }
  int64_t& operator[](size_t index) noexcept { return values_[index]; }
  void push_back(int64_t value);  // throws length_error beyond kLengthMax
  void erase_front() noexcept;
  bool operator==(const Dims& other) const noexcept;

  const int64_t* begin() const noexcept { return values_.data(); }
  const int64_t* end() const noexcept { return values_.data() + length_; }

 private:
  std::array<int64_t, kLengthMax> values_{};
  size_t length_ = 0;
};

// The product of sizes. Throws runtime_error when a size is negative or the product overflows.
int64_t element_count(const Dims& sizes);
// The strides of a tensor whose elements are adjacent, the last dimension fastest.
Dims contiguous_strides(const Dims& sizes);

class TensorImpl final : public intrusive_ptr_target {
 public:
  // A contiguous tensor over a new, resizable, zero-filled storage.
  TensorImpl(const Dims& sizes, ScalarType type);
  // A contiguous view of `storage` from its element `offset` on. Elements that lie outside are an
  // error when they are touched, because a storage may shrink at any time.
  TensorImpl(intrusive_ptr<StorageImpl> storage, int64_t offset, const Dims& sizes,
             const Dims& strides, ScalarType type);
  ~TensorImpl() override;

  impl::PyObjectSlot* pyobj_slot() noexcept override { return &slot_; }

  const intrusive_ptr<StorageImpl>& storage() const noexcept { return storage_; }
  const intrusive_ptr<TensorImpl>& grad() const noexcept { return grad_; }
  const Dims& sizes() const noexcept { return sizes_; }
  const Dims& strides() const noexcept { return strides_; }
  int64_t offset() const noexcept { return offset_; }
  int64_t numel() const noexcept { return numel_; }
  ScalarType type() const noexcept { return type_; }
  bool is_contiguous() const noexcept;

  // The first element. Throws runtime_error when an element lies outside of the storage.
  void* checked_data() const;
  // The address of the first element, for information: nothing is checked.
  void* data() const noexcept;

  // The gradient; null removes it. Throws runtime_error if it is this tensor or does not have its
  // sizes and type. Returns the former one, for the caller to drop when it is ready for whatever
  // the drop runs.
  [[nodiscard]] intrusive_ptr<TensorImpl> exchange_grad(intrusive_ptr<TensorImpl> grad);

  // Looks at other bytes from now on, and grows the storage if they reach beyond its end. Returns
  // the former storage, as exchange_grad does. Throws runtime_error and what resize() throws; then
  // nothing has changed.
  [[nodiscard]] intrusive_ptr<StorageImpl> exchange_storage(intrusive_ptr<StorageImpl> storage,
                                                            int64_t offset, const Dims& sizes,
                                                            const Dims& strides);

  // A new tensor over the same storage. view() takes one size of -1, which is computed; it needs a
  // contiguous tensor. select() fixes the first dimension. Both throw runtime_error, select() also
  // out_of_range.
  intrusive_ptr<TensorImpl> view(Dims sizes) const;
  intrusive_ptr<TensorImpl> select(int64_t index) const;

 protected:
  void release_resources() noexcept override;

 private:
  intrusive_ptr<StorageImpl> storage_;
  intrusive_ptr<TensorImpl> grad_;
  impl::PyObjectSlot slot_;
  Dims sizes_;
  Dims strides_;
  int64_t offset_ = 0;
  int64_t numel_;
  ScalarType type_;
};

}  // namespace slotcore
