// Descriptions: tensors as data alone. A Document is flat: rows of storages and of tensors that
// refer to each other by their places, so that circles of grads are only numbers. It holds no impl.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/autograd/autograd_meta.h"
#include "core/c10/device.h"
#include "core/c10/shapes/dims.h"
#include "core/c10/tensor/scalar_type.h"
#include "core/meta/sizes/shape_env.h"

namespace slotcore::meta {

using autograd::CreationMeta;

// 0 to 2^63 - 1.
struct Natural {
  int64_t value = 0;
  bool operator==(const Natural&) const noexcept = default;
};

// The same, or an expression: then this is its value for the example, as are the numbers in Dims.
struct Size {
  int64_t value = 0;
  bool operator==(const Size&) const noexcept = default;
};

// The place of a storage, or of a tensor, in its document; kNone for none.
inline constexpr int64_t kNone = -1;
struct StorageRef {
  int64_t place = kNone;
  bool operator==(const StorageRef&) const noexcept = default;
};
struct TensorRef {
  int64_t place = kNone;
  explicit operator bool() const noexcept { return place != kNone; }
  bool operator==(const TensorRef&) const noexcept = default;
};

// Copied bytes, if the describer was asked for them.
using Bytes = std::optional<std::string>;

// Whether a text has the field of each row, or only where it differs from its initial value.
enum class Presence { kAlways, kUnlessInitial };

#define FIELD(type, name, presence, initial, sentence) type name = initial;
struct MetaStorageDesc {
#define STORAGE_FIELD FIELD
#define TENSOR_FIELD(...)
#include "core/meta/fields.def"
  bool operator==(const MetaStorageDesc&) const = default;
};

struct MetaTensorDesc {
#define STORAGE_FIELD(...)
#define TENSOR_FIELD FIELD
#include "core/meta/fields.def"
  bool operator==(const MetaTensorDesc&) const = default;
};
#undef FIELD

// A number of a row that may be an expression.
struct SizePlace {
  enum class Table : uint8_t { kStorages, kTensors };

  Table table;
  int64_t row;
  std::string_view field;  // a name of fields.def
  int64_t dim = kNone;     // in Dims

  auto operator<=>(const SizePlace&) const noexcept = default;
};

// The sizes of a document that are expressions, and the environment of their symbols.
struct SymbolicSizes {
  ShapeEnv env;
  std::map<SizePlace, SizeExpr> exprs;  // simplified, and no constant
};

struct Document {
  // Who gave the ids: one number for each describer and each text that was read. Ids of one source
  // mean one object.
  uint64_t source = 0;
  // Deques, because a hostile text may have many rows, and a vector that grows has each of them
  // twice (M6).
  std::deque<MetaStorageDesc> storages;
  std::deque<MetaTensorDesc> tensors;
  std::vector<TensorRef> roots;
  std::shared_ptr<const SymbolicSizes> symbols;  // null if all sizes are numbers
};

int64_t& number_at(Document& document, const SizePlace& place);
// Such as "/tensors/3/size/0".
std::string pointer_of(const SizePlace& place);

// A source that no other caller gets.
uint64_t next_source() noexcept;

const char* name_of(CreationMeta meta) noexcept;
inline constexpr CreationMeta kCreationMetas[] = {CreationMeta::kDefault, CreationMeta::kNoGradMode,
                                                  CreationMeta::kInCustomFunction,
                                                  CreationMeta::kMultiOutputNode};

}  // namespace slotcore::meta
