// Sizes and strides: counting, broadcasting, and their text in messages.

#include "core/c10/tensor/dims.h"

#include <algorithm>
#include <stdexcept>

namespace slotcore {
namespace {

[[noreturn]] void throw_overflow() {
  throw std::runtime_error("the sizes are too large: the number of bytes overflows");
}

}  // namespace

Dims::Dims(std::span<const int64_t> values) {
  for (int64_t value : values) push_back(value);
}

void Dims::push_back(int64_t value) {
  if (length_ == kLengthMax) {
    throw std::length_error("a tensor has at most " + std::to_string(kLengthMax) + " dimensions");
  }
  values_[length_++] = value;
}

void Dims::erase(size_t index) noexcept {
  std::copy(begin() + index + 1, end(), values_.begin() + index);
  length_--;
}

bool Dims::operator==(const Dims& other) const noexcept {
  return std::equal(begin(), end(), other.begin(), other.end());
}

int64_t checked_multiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) throw_overflow();
  return product;
}

int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw_overflow();
  return sum;
}

std::string text(const Dims& dims) {
  std::string result = "[";
  for (size_t i = 0; i < dims.size(); i++) result += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return result + "]";
}

int64_t element_count(const Dims& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (size < 0) {
      throw std::runtime_error("a size cannot be negative: " + text(sizes));
    }
    count = checked_multiply(count, size);
  }
  return count;
}

Dims contiguous_strides(const Dims& sizes) {
  Dims strides = sizes;
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = checked_multiply(stride, std::max<int64_t>(sizes[i], 1));
  }
  return strides;
}

size_t bytes_needed(int64_t offset, const Dims& sizes, const Dims& strides, ScalarType type) {
  int64_t last = offset;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] == 0) return 0;
    last = checked_add(last, checked_multiply(sizes[i] - 1, strides[i]));
  }
  return checked_multiply(checked_add(last, 1), static_cast<int64_t>(item_size(type)));
}

Dims broadcast_sizes(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims sizes = longer;
  size_t added = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); i++) {
    int64_t& size = sizes[added + i];
    if (size == 1) {
      size = shorter[i];
    } else if (shorter[i] != 1 && shorter[i] != size) {
      throw std::runtime_error("the sizes " + text(a) + " and " + text(b) + " do not fit together");
    }
  }
  return sizes;
}

Dims broadcast_strides(const Dims& sizes, const Dims& strides, const Dims& wanted) {
  Dims result = wanted;
  bool fits = sizes.size() <= wanted.size();
  size_t added = fits ? wanted.size() - sizes.size() : 0;
  for (size_t i = 0; fits && i < wanted.size(); i++) {
    bool repeats = i < added || (sizes[i - added] == 1 && wanted[i] != 1);
    fits = repeats || sizes[i - added] == wanted[i];
    result[i] = repeats ? 0 : strides[i - added];
  }
  if (!fits)
    throw std::runtime_error("the size " + text(sizes) + " does not expand to " + text(wanted));
  return result;
}

size_t checked_dim(int64_t dim, size_t rank) {
  auto count = std::max<int64_t>(static_cast<int64_t>(rank), 1);
  if (dim < -count || dim >= count) {
    throw std::out_of_range("there is no dimension " + std::to_string(dim) + " in a tensor of " +
                            std::to_string(rank));
  }
  return static_cast<size_t>(dim < 0 ? dim + count : dim);
}

}  // namespace slotcore
