// Renumbers the rows, then prints each field by its type.

#include "core/meta/desc_write.h"

#include <charconv>
#include <unordered_map>
#include <vector>

namespace slotcore::meta {
namespace {

void put(std::string& out, int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr);
}
void put(std::string& out, uint32_t value) { put(out, int64_t{value}); }
void put(std::string& out, Natural value) { put(out, value.value); }
void put(std::string& out, StorageRef ref) { put(out, ref.place); }
void put(std::string& out, TensorRef ref) { put(out, ref.place); }
void put(std::string& out, bool value) { out += value ? "true" : "false"; }
void put_quoted(std::string& out, std::string_view text) { (out += '"').append(text) += '"'; }
void put(std::string& out, ScalarType value) { put_quoted(out, name_of(value)); }
void put(std::string& out, Device value) { put_quoted(out, name_of(value)); }
void put(std::string& out, CreationMeta value) { put_quoted(out, name_of(value)); }
void put(std::string& out, const Bytes& bytes) { put_quoted(out, *bytes); }
void put(std::string& out, const Dims& dims) {
  out += '[';
  for (size_t i = 0; i < dims.size(); i++) {
    if (i != 0) out += ',';
    put(out, dims[i]);
  }
  out += ']';
}

template <class Type>
void put_field(std::string& out, std::string_view name, const Type& value, Presence presence,
               const Type& initial) {
  if (presence == Presence::kUnlessInitial && value == initial) return;
  if (out.back() != '{') out += ',';
  put_quoted(out, name);
  out += ':';
  put(out, value);
}

#define FIELD(type, name, presence, initial, sentence) \
  put_field<type>(out, #name, row.name, presence, type(initial));
void put(std::string& out, const MetaStorageDesc& row) {
  out += '{';
#define STORAGE_FIELD FIELD
#define TENSOR_FIELD(...)
#include "core/meta/fields.def"
  out += '}';
}

void put(std::string& out, const MetaTensorDesc& row) {
  out += '{';
#define STORAGE_FIELD(...)
#define TENSOR_FIELD FIELD
#include "core/meta/fields.def"
  out += '}';
}
#undef FIELD

template <class Rows>
void put_rows(std::string& out, std::string_view name, const Rows& rows) {
  put_quoted(out += ',', name);
  out += ":[";
  for (const auto& row : rows) {
    if (out.back() != '[') out += ',';
    put(out, row);
  }
  out += ']';
}

// New numbers in the order in which they are asked for.
class Numbers {
 public:
  explicit Numbers(size_t count) : numbers_(count, kNone) {}

  int64_t of(int64_t place) {
    if (place == kNone) return kNone;
    int64_t& number = numbers_[static_cast<size_t>(place)];
    if (number == kNone) {
      number = static_cast<int64_t>(order.size());
      order.push_back(place);
    }
    return number;
  }

  std::vector<int64_t> order;  // the places by their numbers

 private:
  std::vector<int64_t> numbers_;
};

}  // namespace

std::string dumps(const Document& document) {
  Document numbered;
  Numbers tensors(document.tensors.size()), storages(document.storages.size());
  std::unordered_map<int64_t, int64_t> groups;
  for (TensorRef root : document.roots) numbered.roots.push_back({tensors.of(root.place)});
  for (size_t i = 0; i < tensors.order.size(); i++) {
    MetaTensorDesc row = document.tensors[static_cast<size_t>(tensors.order[i])];
    row.id = {static_cast<int64_t>(i)};
    row.storage = {storages.of(row.storage.place)};
    row.base = {tensors.of(row.base.place)};
    row.grad = {tensors.of(row.grad.place)};
    auto group = static_cast<int64_t>(groups.size());
    row.version_group = {groups.try_emplace(row.version_group.value, group).first->second};
    numbered.tensors.push_back(std::move(row));
  }
  for (size_t i = 0; i < storages.order.size(); i++) {
    MetaStorageDesc row = document.storages[static_cast<size_t>(storages.order[i])];
    row.id = {static_cast<int64_t>(i)};
    numbered.storages.push_back(std::move(row));
  }
  std::string out = "{\"format\":";
  put_quoted(out, kFormat);
  out += ",\"version\":";
  put(out, kVersion);
  put_rows(out, "storages", numbered.storages);
  put_rows(out, "tensors", numbered.tensors);
  put_rows(out, "roots", numbered.roots);
  return out += '}';
}

}  // namespace slotcore::meta
