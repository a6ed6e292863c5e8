// BasicDims: sizes or strides of a tensor, and the arithmetic on them. All of it is checked for
// overflow, because the numbers come from the user.
//
// The rules of shapes in this folder are templates over the integer, so each exists once. The .cc
// files instantiate them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>

#include "core/c10/tensor/scalar_type.h"

namespace slotcore {

// Inline, because every program makes many small tensors.
template <class Int>
class BasicDims {
 public:
  // The largest number of dimensions. torch allows 64; this core needs fewer, and 64 would cost
  // each impl a kilobyte.
  static constexpr size_t kLengthMax = 8;

  BasicDims() noexcept = default;
  // Throws length_error beyond kLengthMax.
  explicit BasicDims(std::span<const Int> values) {
    for (const Int& value : values) push_back(value);
  }
  BasicDims(std::initializer_list<Int> values)
      : BasicDims(std::span(values.begin(), values.size())) {}

  size_t size() const noexcept { return length_; }
  const Int& operator[](size_t index) const noexcept { return values_[index]; }
  Int& operator[](size_t index) noexcept { return values_[index]; }
  // Throws length_error beyond kLengthMax.
  void push_back(Int value) {
    if (length_ == kLengthMax) {
      throw std::length_error("a tensor has at most " + std::to_string(kLengthMax) + " dimensions");
    }
    values_[length_++] = std::move(value);
  }
  void erase(size_t index) noexcept {
    std::move(begin() + index + 1, end(), begin() + index);
    length_--;
  }
  bool operator==(const BasicDims& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

  const Int* begin() const noexcept { return values_.data(); }
  const Int* end() const noexcept { return values_.data() + length_; }
  Int* begin() noexcept { return values_.data(); }
  Int* end() noexcept { return values_.data() + length_; }

 private:
  std::array<Int, kLengthMax> values_{};
  size_t length_ = 0;
};

using Dims = BasicDims<int64_t>;

[[noreturn]] void throw_overflow();

// What a rule asks of its integers, beside + - and comparisons. The first two throw runtime_error
// when the result overflows. Inline, because each operation computes a few layouts.
inline int64_t checked_multiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) throw_overflow();
  return product;
}
inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw_overflow();
  return sum;
}
inline int64_t larger(int64_t a, int64_t b) { return std::max(a, b); }
inline std::string text(int64_t value) { return std::to_string(value); }

template <class Int>
std::string text(const BasicDims<Int>& dims) {
  std::string result = "[";
  for (size_t i = 0; i < dims.size(); i++) result += (i == 0 ? "" : ", ") + text(dims[i]);
  return result + "]";
}

// The product of sizes. Throws runtime_error when a size is negative or the product overflows.
template <class Int>
Int element_count(const BasicDims<Int>& sizes);
// The strides of a tensor whose elements are adjacent, the last dimension fastest.
template <class Int>
BasicDims<Int> contiguous_strides(const BasicDims<Int>& sizes);
// Converts `dim`, which may count from the end, to an index below `rank`; a rank of 0 counts as 1.
// Throws out_of_range.
size_t checked_dim(int64_t dim, size_t rank);

}  // namespace slotcore
