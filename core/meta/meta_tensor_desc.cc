// Names of values, places of sizes, and the counter of sources.

#include "core/meta/meta_tensor_desc.h"

#include <atomic>

#include "core/c10/check.h"

namespace slotcore::meta {
namespace {

int64_t* number_of(Size& size, int64_t) { return &size.value; }
int64_t* number_of(Dims& dims, int64_t dim) { return &dims[static_cast<size_t>(dim)]; }
template <class Other>
int64_t* number_of(Other&, int64_t) {
  return nullptr;
}

int64_t* number_in(MetaStorageDesc& row, const SizePlace& place) {
#define STORAGE_FIELD(type, name, ...) \
  if (place.field == #name) return number_of(row.name, place.dim);
#define TENSOR_FIELD(...)
#include "core/meta/fields.def"
  return nullptr;
}

int64_t* number_in(MetaTensorDesc& row, const SizePlace& place) {
#define STORAGE_FIELD(...)
#define TENSOR_FIELD(type, name, ...) \
  if (place.field == #name) return number_of(row.name, place.dim);
#include "core/meta/fields.def"
  return nullptr;
}

}  // namespace

int64_t& number_at(Document& document, const SizePlace& place) {
  auto row = static_cast<size_t>(place.row);
  int64_t* number = place.table == SizePlace::Table::kStorages
                        ? number_in(document.storages[row], place)
                        : number_in(document.tensors[row], place);
  SLOTCORE_CHECK(number != nullptr);
  return *number;
}

std::string pointer_of(const SizePlace& place) {
  std::string pointer = place.table == SizePlace::Table::kStorages ? "/storages/" : "/tensors/";
  pointer.append(std::to_string(place.row)).append("/").append(place.field);
  if (place.dim != kNone) pointer += "/" + std::to_string(place.dim);
  return pointer;
}

uint64_t next_source() noexcept {
  // Relaxed: only the value matters.
  static constinit std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

const char* name_of(CreationMeta meta) noexcept {
  switch (meta) {
    case CreationMeta::kDefault: return "default";
    case CreationMeta::kNoGradMode: return "no_grad_mode";
    case CreationMeta::kInCustomFunction: return "in_custom_function";
    case CreationMeta::kMultiOutputNode: return "multi_output_node";
  }
  __builtin_unreachable();
}

}  // namespace slotcore::meta
