// The element types, one row each. Everything that depends on the type derives from this list.
#pragma once

#include <cstddef>
#include <cstdint>

// ROW(C++ type, name)
#define SLOTCORE_SCALAR_TYPES(ROW) \
  ROW(float, float32)              \
  ROW(double, float64)             \
  ROW(int64_t, int64)              \
  ROW(uint8_t, uint8)              \
  ROW(bool, bool_)

namespace slotcore {

enum class ScalarType : uint8_t {
#define ROW(type, name) name,
  SLOTCORE_SCALAR_TYPES(ROW)
#undef ROW
};

constexpr size_t item_size(ScalarType type) noexcept {
  switch (type) {
#define ROW(type, name)    \
  case ScalarType::name:   \
    return sizeof(type);
    SLOTCORE_SCALAR_TYPES(ROW)
#undef ROW
  }
  return 0;
}

}  // namespace slotcore
