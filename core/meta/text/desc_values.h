// From a scalar of JSON to the value of a field, by the type of the field.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/meta/meta_tensor_desc.h"

namespace slotcore::meta {

// A scalar. Text is borrowed.
using Scalar = std::variant<bool, int64_t, std::string_view>;

// Each sets `value` and returns nullopt, or returns what was expected.
using Expected = std::optional<std::string>;
Expected assign(int64_t& value, const Scalar& scalar);
Expected assign(Natural& value, const Scalar& scalar);
Expected assign(Size& value, const Scalar& scalar);
Expected assign(StorageRef& value, const Scalar& scalar);
Expected assign(TensorRef& value, const Scalar& scalar);
Expected assign(uint32_t& value, const Scalar& scalar);
Expected assign(bool& value, const Scalar& scalar);
Expected assign(ScalarType& value, const Scalar& scalar);
Expected assign(Device& value, const Scalar& scalar);
Expected assign(CreationMeta& value, const Scalar& scalar);
// Of what is no string: a string is taken as it is.
Expected assign(Bytes&, const Scalar& scalar);
// A list: of nothing else.
Expected assign(Dims& value, const Scalar& scalar);

// What an error shows of a name that a text has.
std::string shortened(const std::string& name);

}  // namespace slotcore::meta
