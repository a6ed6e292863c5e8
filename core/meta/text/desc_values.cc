// The ranges of numbers, and the names of the rest.

#include "core/meta/text/desc_values.h"

#include <iterator>
#include <limits>

namespace slotcore::meta {
namespace {

constexpr ScalarType kScalarTypes[] = {
#define ROW(type, name) ScalarType::name,
    SLOTCORE_SCALAR_TYPES(ROW)
#undef ROW
};

template <class Value, size_t N>
Expected assign_name(Value& value, const Scalar& scalar, const Value (&all)[N]) {
  std::string names;
  const auto* text = std::get_if<std::string_view>(&scalar);
  for (const Value& one : all) {
    if (text != nullptr && *text == name_of(one)) {
      value = one;
      return std::nullopt;
    }
    names += (names.empty() ? "\"" : ", \"") + std::string(name_of(one)) + "\"";
  }
  return "one of " + names;
}

Expected assign_between(int64_t& value, const Scalar& scalar, int64_t lowest, int64_t highest) {
  const auto* number = std::get_if<int64_t>(&scalar);
  if (number == nullptr || *number < lowest || *number > highest)
    return "an integer from " + std::to_string(lowest) + " to " + std::to_string(highest);
  value = *number;
  return std::nullopt;
}

constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

}  // namespace

Expected assign(int64_t& value, const Scalar& scalar) {
  return assign_between(value, scalar, std::numeric_limits<int64_t>::min(), kHighest);
}
Expected assign(Natural& value, const Scalar& scalar) {
  return assign_between(value.value, scalar, 0, kHighest);
}
Expected assign(Size& value, const Scalar& scalar) {
  return assign_between(value.value, scalar, 0, kHighest);
}
Expected assign(StorageRef& value, const Scalar& scalar) {
  return assign_between(value.place, scalar, 0, kHighest);
}
Expected assign(TensorRef& value, const Scalar& scalar) {
  return assign_between(value.place, scalar, 0, kHighest);
}
Expected assign(uint32_t& value, const Scalar& scalar) {
  int64_t wide = 0;
  Expected expected = assign_between(wide, scalar, 0, std::numeric_limits<uint32_t>::max());
  value = static_cast<uint32_t>(wide);
  return expected;
}

Expected assign(bool& value, const Scalar& scalar) {
  const auto* flag = std::get_if<bool>(&scalar);
  if (flag == nullptr) return "true or false";
  value = *flag;
  return std::nullopt;
}

Expected assign(ScalarType& value, const Scalar& scalar) {
  return assign_name(value, scalar, kScalarTypes);
}
Expected assign(Device& value, const Scalar& scalar) {
  return assign_name(value, scalar, kDevices);
}
Expected assign(CreationMeta& value, const Scalar& scalar) {
  return assign_name(value, scalar, kCreationMetas);
}

Expected assign(Bytes&, const Scalar&) { return "a string"; }

Expected assign(Dims&, const Scalar&) { return "a list of integers"; }

std::string shortened(const std::string& name) {
  constexpr size_t kShownMax = 40;
  if (name.size() <= kShownMax) return name;
  size_t end = kShownMax;
  while ((name[end] & 0xC0) == 0x80) end--;  // a character of UTF-8 is not cut
  return name.substr(0, end) + "..";
}

}  // namespace slotcore::meta
