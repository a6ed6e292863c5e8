// Names and promotion of the element types, by torch's rules.

#include "core/c10/tensor/scalar_type.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace slotcore {

const char* name_of(ScalarType type) noexcept {
  switch (type) {
#define ROW(cpp_type, name) \
  case ScalarType::name: return std::string_view(#name) == "bool_" ? "bool" : #name;
    SLOTCORE_SCALAR_TYPES(ROW)
#undef ROW
  }
  __builtin_unreachable();
}

int kind_of(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::bool_: return 0;
    case ScalarType::uint8:
    case ScalarType::int64: return 1;
    case ScalarType::float32:
    case ScalarType::float64: return 2;
    case ScalarType::complex64: return 3;
  }
  __builtin_unreachable();
}

ScalarType promote_types(ScalarType a, ScalarType b) {
  auto [lower, higher] = std::minmax(a, b);
  if (lower == ScalarType::float64 && higher == ScalarType::complex64)
    throw std::runtime_error("there is no dtype complex128, which float64 and complex64 need");
  return higher;
}

bool can_cast(ScalarType from, ScalarType to) noexcept { return kind_of(from) <= kind_of(to); }

}  // namespace slotcore
