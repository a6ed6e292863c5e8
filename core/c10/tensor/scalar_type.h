// The element types, one row each. Everything that depends on the type derives from this list.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

// ROW(C++ type, name), in the order of promotion: of two types the later one can hold both, except
// float64 and complex64, which have no common type here.
#define SLOTCORE_SCALAR_TYPES(ROW) \
  ROW(bool, bool_)                 \
  ROW(uint8_t, uint8)              \
  ROW(int64_t, int64)              \
  ROW(float, float32)              \
  ROW(double, float64)             \
  ROW(std::complex<float>, complex64)

namespace slotcore {

enum class ScalarType : uint8_t {
#define ROW(type, name) name,
  SLOTCORE_SCALAR_TYPES(ROW)
#undef ROW
};

// Calls `body` with a value of the C++ type of `type`, and returns its result.
template <class Body>
constexpr decltype(auto) with_type(ScalarType type, Body&& body) {
  switch (type) {
#define ROW(cpp_type, name) \
  case ScalarType::name: return body(cpp_type{});
    SLOTCORE_SCALAR_TYPES(ROW)
#undef ROW
  }
  __builtin_unreachable();
}

constexpr size_t item_size(ScalarType type) noexcept {
  return with_type(type, [](auto zero) { return sizeof(zero); });
}

// Its name in Python and in messages.
const char* name_of(ScalarType type) noexcept;

constexpr bool is_complex(ScalarType type) noexcept { return type == ScalarType::complex64; }

// Whether tensors of this type can have gradients.
constexpr bool is_differentiable(ScalarType type) noexcept { return type >= ScalarType::float32; }

// The type that can hold the values of both. Throws runtime_error for float64 and complex64.
ScalarType promote_types(ScalarType a, ScalarType b);

// Whether a tensor of type `to` may store a result of type `from`: never one of a higher kind,
// where the kinds are bool, integers, floating point, complex.
bool can_cast(ScalarType from, ScalarType to) noexcept;

// bool 0, integers 1, floating point 2, complex 3.
int kind_of(ScalarType type) noexcept;

}  // namespace slotcore
