// Renumbers the rows, then prints each field by its type.

#include "core/meta/text/desc_write.h"

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
// Lines of printable ASCII.
void put_lines(std::string& out, std::string_view lines) {
  out += '"';
  for (char letter : lines) {
    if (letter == '"' || letter == '\\') out += '\\';
    out.append(letter == '\n' ? "\\n" : std::string(1, letter));
  }
  out += '"';
}

// Prints one row.
class Writer {
 public:
  // `place` is that of the row in the document; its field and dim are of no account.
  Writer(std::string& out, const SymbolicSizes* symbols, SizePlace place)
      : out_(out), symbols_(symbols), place_(place) {}

#define FIELD(type, name, presence, initial, sentence) \
  put_field<type>(#name, row.name, presence, type(initial));
  void put_row(const MetaStorageDesc& row) {
#define STORAGE_FIELD FIELD
#define TENSOR_FIELD(...)
#include "core/meta/fields.def"
  }
  void put_row(const MetaTensorDesc& row) {
#define STORAGE_FIELD(...)
#define TENSOR_FIELD FIELD
#include "core/meta/fields.def"
  }
#undef FIELD

 private:
  template <class Type>
  void put_field(std::string_view name, const Type& value, Presence presence, const Type& initial) {
    place_.field = name;
    place_.dim = kNone;
    if (presence == Presence::kUnlessInitial && value == initial && expr() == nullptr) return;
    if (out_.back() != '{') out_ += ',';
    put_quoted(out_, name);
    out_ += ':';
    put_value(value);
  }

  template <class Type>
  void put_value(const Type& value) {
    put(out_, value);
  }
  void put_value(const Size& size) { put_size(size.value); }
  void put_value(const Dims& dims) {
    out_ += '[';
    for (size_t i = 0; i < dims.size(); i++) {
      if (i != 0) out_ += ',';
      place_.dim = static_cast<int64_t>(i);
      put_size(dims[i]);
    }
    out_ += ']';
  }
  void put_size(int64_t number) {
    if (const SizeExpr* one = expr(); one != nullptr) {
      put_quoted(out_, one->text());
    } else {
      put(out_, number);
    }
  }

  // Of the number at `place_`; null without one.
  const SizeExpr* expr() const {
    if (symbols_ == nullptr) return nullptr;
    auto found = symbols_->exprs.find(place_);
    return found == symbols_->exprs.end() ? nullptr : &found->second;
  }

  std::string& out_;
  const SymbolicSizes* symbols_;
  SizePlace place_;
};

// `places` are those of the rows in the document.
template <class Rows>
void put_rows(std::string& out, std::string_view name, const Rows& rows,
              const SymbolicSizes* symbols, SizePlace::Table table,
              const std::vector<int64_t>& places) {
  put_quoted(out += ',', name);
  out += ":[";
  for (size_t i = 0; i < rows.size(); i++) {
    if (i != 0) out += ',';
    out += '{';
    Writer(out, symbols, {table, places[i], {}}).put_row(rows[i]);
    out += '}';
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
  const SymbolicSizes* symbols = document.symbols.get();
  put_rows(out, "storages", numbered.storages, symbols, SizePlace::Table::kStorages,
           storages.order);
  put_rows(out, "tensors", numbered.tensors, symbols, SizePlace::Table::kTensors, tensors.order);
  if (symbols != nullptr) put_lines(out += ",\"shape_env\":", symbols->env.dumps());
  out += ",\"roots\":[";
  for (TensorRef root : numbered.roots) {
    if (out.back() != '[') out += ',';
    put(out, root);
  }
  return out += "]}";
}

}  // namespace slotcore::meta
