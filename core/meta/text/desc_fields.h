// The rows of fields.def as tables for the reader: a field is its place among those of its row.
#pragma once

#include <iterator>
#include <type_traits>

#include "core/meta/text/desc_values.h"

namespace slotcore::meta {

inline constexpr const char* kStorageFields[] = {
#define STORAGE_FIELD(type, name, ...) #name,
#define TENSOR_FIELD(...)
#include "core/meta/fields.def"
};
inline constexpr const char* kTensorFields[] = {
#define STORAGE_FIELD(...)
#define TENSOR_FIELD(type, name, ...) #name,
#include "core/meta/fields.def"
};
inline constexpr Presence kStoragePresence[] = {
#define STORAGE_FIELD(type, name, presence, ...) presence,
#define TENSOR_FIELD(...)
#include "core/meta/fields.def"
};
inline constexpr Presence kTensorPresence[] = {
#define STORAGE_FIELD(...)
#define TENSOR_FIELD(type, name, presence, ...) presence,
#include "core/meta/fields.def"
};

// Whether a field without a list may be an expression.
inline constexpr bool kStorageIsSize[] = {
#define STORAGE_FIELD(type, ...) std::is_same_v<type, Size>,
#define TENSOR_FIELD(...)
#include "core/meta/fields.def"
};
inline constexpr bool kTensorIsSize[] = {
#define STORAGE_FIELD(...)
#define TENSOR_FIELD(type, ...) std::is_same_v<type, Size>,
#include "core/meta/fields.def"
};

// Set a field from a scalar, or return what was expected.
Expected assign_field(MetaStorageDesc& row, size_t field, const Scalar& scalar);
Expected assign_field(MetaTensorDesc& row, size_t field, const Scalar& scalar);
// The list that is a field; null for another field.
Dims* dims_of_field(MetaTensorDesc& row, size_t field);

// The bytes that are a field; null for another field.
Bytes* bytes_of_field(MetaStorageDesc& row, size_t field);

}  // namespace slotcore::meta
