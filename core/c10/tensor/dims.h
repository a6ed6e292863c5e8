// Dims: sizes or strides of a tensor, and the arithmetic on them. All of it is checked for
// overflow, because the numbers come from the user.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "core/c10/tensor/scalar_type.h"

namespace slotcore {

// Inline, because every program makes many small tensors.
class Dims {
 public:
  // The largest number of dimensions. torch allows 64; this core needs fewer, and 64 would cost
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
  void erase(size_t index) noexcept;
  bool operator==(const Dims& other) const noexcept;

  const int64_t* begin() const noexcept { return values_.data(); }
  const int64_t* end() const noexcept { return values_.data() + length_; }

 private:
  std::array<int64_t, kLengthMax> values_{};
  size_t length_ = 0;
};

// Throw runtime_error when the result overflows.
int64_t checked_multiply(int64_t a, int64_t b);
int64_t checked_add(int64_t a, int64_t b);

// The product of sizes. Throws runtime_error when a size is negative or the product overflows.
int64_t element_count(const Dims& sizes);
// The strides of a tensor whose elements are adjacent, the last dimension fastest.
Dims contiguous_strides(const Dims& sizes);
// The number of bytes from the start of the storage to the end of the last element; 0 without
// elements. Strides are not negative.
size_t bytes_needed(int64_t offset, const Dims& sizes, const Dims& strides, ScalarType type);
// The sizes that both broadcast to. Throws runtime_error when they do not fit.
Dims broadcast_sizes(const Dims& a, const Dims& b);
// The strides that read elements of `sizes` and `strides` as `wanted`, where new dimensions and
// those of size 1 repeat. Throws runtime_error when they do not fit.
Dims broadcast_strides(const Dims& sizes, const Dims& strides, const Dims& wanted);
// Converts `dim`, which may count from the end, to an index below `rank`; a rank of 0 counts as 1.
// Throws out_of_range.
size_t checked_dim(int64_t dim, size_t rank);

std::string text(const Dims& dims);

}  // namespace slotcore
