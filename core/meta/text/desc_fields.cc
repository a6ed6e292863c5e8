// From the place of a field to the member of a row.

#include "core/meta/text/desc_fields.h"

namespace slotcore::meta {
namespace {

// The member, if it is of the type that is wanted; else null.
template <class Wanted, class Member>
Wanted* member_as(Member& member) {
  if constexpr (std::is_same_v<Wanted, Member>) {
    return &member;
  } else {
    return nullptr;
  }
}

}  // namespace

Expected assign_field(MetaStorageDesc& row, size_t field, const Scalar& scalar) {
  size_t i = 0;
#define STORAGE_FIELD(type, name, ...) \
  if (i++ == field) return assign(row.name, scalar);
#define TENSOR_FIELD(...)
#include "core/meta/fields.def"
  __builtin_unreachable();
}

Expected assign_field(MetaTensorDesc& row, size_t field, const Scalar& scalar) {
  size_t i = 0;
#define STORAGE_FIELD(...)
#define TENSOR_FIELD(type, name, ...) \
  if (i++ == field) return assign(row.name, scalar);
#include "core/meta/fields.def"
  __builtin_unreachable();
}

Dims* dims_of_field(MetaTensorDesc& row, size_t field) {
  size_t i = 0;
#define STORAGE_FIELD(...)
#define TENSOR_FIELD(type, name, ...) \
  if (i++ == field) return member_as<Dims>(row.name);
#include "core/meta/fields.def"
  __builtin_unreachable();
}

Bytes* bytes_of_field(MetaStorageDesc& row, size_t field) {
  size_t i = 0;
#define STORAGE_FIELD(type, name, ...) \
  if (i++ == field) return member_as<Bytes>(row.name);
#define TENSOR_FIELD(...)
#include "core/meta/fields.def"
  __builtin_unreachable();
}

}  // namespace slotcore::meta
