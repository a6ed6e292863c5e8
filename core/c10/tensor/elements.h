// Elements: the numbers of a tensor, read and written as any type. Conversions are those of torch:
// integers wrap, every nonzero number is true, and of a complex number the real part is taken.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <variant>

#include "core/c10/tensor/operation.h"
#include "core/c10/tensor/tensor_impl.h"

namespace slotcore {

template <class T>
inline constexpr bool is_complex_v = std::is_same_v<T, std::complex<float>>;

template <class To, class From>
To convert(From value) noexcept {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (is_complex_v<From>) {
    return convert<To>(value.real());
  } else if constexpr (is_complex_v<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // A number that does not fit gives the smallest int64, as on x86; in C++ it is undefined.
    constexpr From kEnd = 0x1p63;
    int64_t integer = value >= -kEnd && value < kEnd ? static_cast<int64_t>(value) : INT64_MIN;
    return static_cast<To>(integer);
  } else {
    return static_cast<To>(value);
  }
}

template <class T>
T negate(T value) noexcept {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(value));  // wraps
  } else {
    return -value;
  }
}

// Throws runtime_error when an element lies outside of the storage, or when the tensor is a negated
// bool.
void check_elements(const TensorImpl& tensor);

class Elements {
 public:
  // Throws what check_elements() throws, and NoDataError without bytes. Valid until the storage is
  // resized.
  explicit Elements(const TensorImpl& tensor);

  // The element at `offset`, counted in elements from the first one.
  template <class T>
  T read(int64_t offset) const noexcept {
    return with_type(type_, [&](auto zero) {
      using Stored = decltype(zero);
      return convert<T>(with_bits(load<Stored>(offset)));
    });
  }
  template <class T>
  void write(int64_t offset, T value) const noexcept {
    with_type(type_, [&](auto zero) {
      using Stored = decltype(zero);
      Stored stored = with_bits(convert<Stored>(value));
      std::memcpy(bytes_ + offset * static_cast<int64_t>(sizeof stored), &stored, sizeof stored);
    });
  }

 private:
  // Elements of a storage that was made from a buffer need not be aligned, and the byte of a bool
  // may hold any value.
  template <class T>
  T load(int64_t offset) const noexcept {
    using Raw = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    Raw raw;
    std::memcpy(&raw, bytes_ + offset * static_cast<int64_t>(sizeof raw), sizeof raw);
    return convert<T>(raw);
  }
  // Converts a stored value to the value that is read, and back: each bit is its own inverse.
  template <class T>
  T with_bits(T value) const noexcept {
    if constexpr (is_complex_v<T>) {
      if (bits_.conj) value = std::conj(value);
    }
    return bits_.neg ? negate(value) : value;
  }

  char* bytes_;
  ScalarType type_;
  ValueBits bits_;
};

// Whether an operation has no elements to write, because `out` has no bytes. Then checks the
// operands as Elements() would, so that an operation has the same errors on every device.
template <class... Tensors>
bool is_without_elements(const TensorImpl& out, const Tensors&... read) {
  if (out.place().has_bytes()) return false;
  check_elements(out);
  (check_elements(read), ...);
  return true;
}

// Calls `body(offsets)` for each index of `sizes` in row-major order; offsets[k] is the offset of
// the element by strides[k].
template <size_t N, class Body>
void for_each_element(const Dims& sizes, const std::array<Dims, N>& strides, Body body) {
  for (int64_t size : sizes) {
    if (size == 0) return;
  }
  Dims index = sizes;
  for (size_t i = 0; i < sizes.size(); i++) index[i] = 0;
  std::array<int64_t, N> offsets{};
  for (;;) {
    body(offsets);
    size_t i = sizes.size();
    for (; i > 0; i--) {
      bool wraps = index[i - 1] + 1 == sizes[i - 1];
      int64_t places = wraps ? -index[i - 1] : 1;
      index[i - 1] += places;
      for (size_t k = 0; k < N; k++) offsets[k] += places * strides[k][i - 1];
      if (!wraps) break;
    }
    if (i == 0) return;
  }
}

}  // namespace slotcore

namespace slotcore::arithmetic {

inline ScalarType type_of(const Scalar& number) {
  constexpr std::array kTypes = {ScalarType::bool_, ScalarType::int64, ScalarType::float64,
                                 ScalarType::complex64};
  return kTypes[number.index()];
}

// Whether a T can hold `value`. A negative integer wraps in an unsigned type, as in torch.
template <class T>
bool fits(double value, bool is_integer) {
  if constexpr (std::is_floating_point_v<T>) {
    return !std::isfinite(value) || std::abs(value) <= std::numeric_limits<T>::max();
  } else if constexpr (std::is_unsigned_v<T>) {
    return value >= (is_integer ? -255 : 0) && value <= 255;
  } else {
    // The largest int64 is not a double. 2^63 is one, and does not fit.
    return value >= -0x1p63 && value < 0x1p63;
  }
}

[[noreturn]] inline void throw_overflow() {
  throw std::runtime_error("the value cannot be converted to the dtype without overflow");
}

template <class T>
T checked_convert(const Scalar& number) {
  if constexpr (std::is_same_v<T, int64_t>) {
    // Integers above 2^53 are not exact as doubles.
    if (const auto* integer = std::get_if<int64_t>(&number)) return *integer;
  }
  auto value = std::visit([](auto any) { return std::complex<double>(any); }, number);
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0.0;
  } else if constexpr (is_complex_v<T>) {
    using Part = typename T::value_type;
    if (!fits<Part>(value.real(), false) || !fits<Part>(value.imag(), false)) throw_overflow();
    return T(value);
  } else {
    bool is_integer = std::holds_alternative<int64_t>(number);
    if (value.imag() != 0 || !fits<T>(value.real(), is_integer)) throw_overflow();
    return convert<T>(value.real());
  }
}

}  // namespace slotcore::arithmetic
