// From the place of a field to the member of a row.

#include "core/meta/text/desc_fields.h"

namespace slotcore::meta {
namespace {

Dims* dims_or_null(Dims& dims) { return &dims; }
template <class Other>
Dims* dims_or_null(Other&) {
  return nullptr;
}

Bytes* bytes_or_null(Bytes& bytes) { return &bytes; }
template <class Other>
Bytes* bytes_or_null(Other&) {
  return nullptr;
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
  if (i++ == field) return dims_or_null(row.name);
#include "core/meta/fields.def"
  __builtin_unreachable();
}

Bytes* bytes_of_field(MetaStorageDesc& row, size_t field) {
  size_t i = 0;
#define STORAGE_FIELD(type, name, ...) \
  if (i++ == field) return bytes_or_null(row.name);
#define TENSOR_FIELD(...)
#include "core/meta/fields.def"
  __builtin_unreachable();
}

}  // namespace slotcore::meta
