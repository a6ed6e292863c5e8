// Events of nlohmann's parser to rows. The parser has no limit of its own: a text of a million `[`
// ends at the second event here, because every event must be one that the place allows. It takes a
// byte order mark, a NUL as the end, doubled names, and integers beyond 64 bits; here they fail.

#include "core/meta/text/desc_read.h"

#include <bitset>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/meta/text/desc_fields.h"
#include "core/meta/text/desc_write.h"

namespace slotcore::meta {
namespace {

// What may come next, and what an object or a list belongs to.
enum class Place { kStart, kDocument, kStorages, kTensors, kRoots, kStorage, kTensor, kDims, kEnd };

constexpr const char* kDocumentFields[] = {"format",   "version", "shape_env",
                                           "storages", "tensors", "roots"};
constexpr size_t kEnvField = 2;
constexpr int64_t kFirstVersionWithEnv = 2;

// The fields of one object: which it can have, and which it has had.
struct Fields {
  std::span<const char* const> names;
  std::bitset<32> seen;
  size_t current = 0;
};
static_assert(std::size(kTensorFields) <= 32);

}  // namespace

// nlohmann's interface. A handler that returns false ends the parse; here each error throws.
class DescReader {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  std::shared_ptr<Document> document = std::make_shared<Document>();

  bool null() { fail_unexpected(); }
  bool boolean(bool value) { return scalar(value); }
  bool number_integer(number_integer_t value) { return scalar(value); }
  bool number_unsigned(number_unsigned_t value) {
    if (value > static_cast<uint64_t>(INT64_MAX)) fail("a number beyond 64 bits");
    return scalar(static_cast<int64_t>(value));
  }
  bool number_float(number_float_t, const string_t& text) { fail(text + " is no 64-bit integer"); }
  bool string(string_t& value) {
    Bytes* bytes = place_ == Place::kStorage
                       ? bytes_of_field(document->storages.back(), row_.current)
                       : nullptr;
    if (bytes == nullptr) return scalar(std::string_view(value));
    *bytes = std::move(value);  // may be most of the text, so it is not copied
    return true;
  }
  bool binary(binary_t&) { fail_unexpected(); }

  bool start_object(size_t) {
    if (place_ == Place::kStart) return enter(Place::kDocument, kDocumentFields, document_);
    if (place_ == Place::kStorages) {
      document->storages.emplace_back();
      return enter(Place::kStorage, kStorageFields, row_);
    }
    if (place_ == Place::kTensors) {
      document->tensors.emplace_back();
      return enter(Place::kTensor, kTensorFields, row_);
    }
    fail_unexpected();
  }

  bool key(const string_t& name) {
    Fields& fields = place_ == Place::kDocument ? document_ : row_;
    for (size_t i = 0; i < fields.names.size(); i++) {
      if (name != fields.names[i]) continue;
      fields.current = i;
      if (fields.seen[i]) fail("the field is there twice");
      fields.seen[i] = true;
      return true;
    }
    throw DescError(object_pointer(), "there is no field \"" + shortened(name) + "\"");
  }

  bool end_object() {
    if (place_ == Place::kDocument) {
      check_seen(document_, {});
      place_ = Place::kEnd;
    } else if (place_ == Place::kStorage) {
      check_seen(row_, kStoragePresence);
      place_ = Place::kStorages;
    } else {
      check_seen(row_, kTensorPresence);
      place_ = Place::kTensors;
    }
    return true;
  }

  bool start_array(size_t) {
    if (place_ == Place::kDocument && document_.current >= kFirstList) {
      constexpr Place kLists[] = {Place::kStorages, Place::kTensors, Place::kRoots};
      place_ = kLists[document_.current - kFirstList];
      return true;
    }
    if (place_ == Place::kTensor) dims_ = dims_of_field(document->tensors.back(), row_.current);
    if (place_ != Place::kTensor || dims_ == nullptr) fail_unexpected();
    place_ = Place::kDims;
    return true;
  }

  bool end_array() {
    place_ = place_ == Place::kDims ? Place::kTensor : Place::kDocument;
    return true;
  }

  // Expressions have their values when the environment has been read.
  void finish() {
    auto& exprs = symbols_.exprs;
    if (version_ < kFirstVersionWithEnv && env_text_) fail_env("version 1 has no expressions");
    if (!env_text_) {
      if (!exprs.empty()) throw DescError(pointer_of(exprs.begin()->first), "no shape_env");
      return;
    }
    if (exprs.empty()) fail_env("no size is an expression");
    try {
      symbols_.env = ShapeEnv::loads(*env_text_);
    } catch (const std::invalid_argument& error) {
      fail_env(error.what());
    }
    set_numbers(*document, symbols_);
    document->symbols = std::make_shared<SymbolicSizes>(std::move(symbols_));
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception& error) {
    throw DescError(pointer(), "at byte " + std::to_string(position) + ": " + error.what());
  }

 private:
  static constexpr size_t kFirstList = 3;  // in kDocumentFields

  bool enter(Place place, std::span<const char* const> names, Fields& fields) {
    place_ = place;
    fields = {names, {}, 0};
    return true;
  }

  bool scalar(const Scalar& value) {
    if (const auto* text = std::get_if<std::string_view>(&value); text != nullptr && is_size()) {
      add_expr(*text);
      return scalar(int64_t{0});
    }
    if (place_ == Place::kDocument) return document_field(value);
    if (place_ == Place::kRoots) {
      TensorRef root{};
      expect(assign(root, value));
      document->roots.push_back(root);
      return true;
    }
    if (place_ == Place::kStorage)
      return expect(assign_field(document->storages.back(), row_.current, value));
    if (place_ == Place::kTensor)
      return expect(assign_field(document->tensors.back(), row_.current, value));
    if (place_ != Place::kDims) fail_unexpected();
    if (dims_->size() == Dims::kLengthMax)
      fail("a tensor has at most " + std::to_string(Dims::kLengthMax) + " dimensions");
    int64_t size = 0;
    expect(assign(size, value));
    dims_->push_back(size);
    return true;
  }

  // Whether the next value may be an expression.
  bool is_size() const {
    return place_ == Place::kDims || (place_ == Place::kStorage && kStorageIsSize[row_.current]) ||
           (place_ == Place::kTensor && kTensorIsSize[row_.current]);
  }

  void add_expr(std::string_view text) {
    SizeExpr expr;
    try {
      expr = SizeExpr::parse(text);
    } catch (const std::logic_error& error) {
      fail(error.what());
    } catch (const std::overflow_error& error) {
      fail(error.what());
    }
    if (expr.is_constant() || expr.text() != text) fail("expected an expression in its one form");
    bool is_storage = place_ == Place::kStorage;
    size_t rows = is_storage ? document->storages.size() : document->tensors.size();
    SizePlace place{is_storage ? SizePlace::Table::kStorages : SizePlace::Table::kTensors,
                    static_cast<int64_t>(rows) - 1, row_.names[row_.current],
                    place_ == Place::kDims ? static_cast<int64_t>(dims_->size()) : kNone};
    symbols_.exprs.emplace(place, std::move(expr));
  }

  [[noreturn]] static void fail_env(const std::string& message) {
    throw DescError("/shape_env", message);
  }

  bool document_field(const Scalar& value) {
    if (document_.current >= kFirstList) fail("expected a list");
    if (document_.current == 0) {
      const auto* text = std::get_if<std::string_view>(&value);
      if (text == nullptr || *text != kFormat) fail(std::string("expected \"") + kFormat + "\"");
      return true;
    }
    if (document_.current == kEnvField) {
      const auto* text = std::get_if<std::string_view>(&value);
      if (text == nullptr) fail("expected a string");
      env_text_ = *text;
      return true;
    }
    expect(assign(version_, value));
    if (version_ > kVersion)
      fail("version " + std::to_string(version_) + " is newer than this reader, which knows " +
           std::to_string(kVersion));
    if (version_ < 1) fail("there is no version " + std::to_string(version_));
    return true;
  }

  // Without `presence`, those of a document.
  void check_seen(const Fields& fields, std::span<const Presence> presence) const {
    for (size_t i = 0; i < fields.names.size(); i++) {
      bool is_needed = presence.empty() ? i != kEnvField : presence[i] == Presence::kAlways;
      if (is_needed && !fields.seen[i])
        throw DescError(object_pointer(),
                        std::string("the field \"") + fields.names[i] + "\" is missing");
    }
  }

  bool expect(const Expected& expected) {
    if (expected) fail("expected " + *expected);
    return true;
  }
  [[noreturn]] void fail_unexpected() { fail("a value of another type was expected"); }
  [[noreturn]] void fail(const std::string& message) { throw DescError(pointer(), message); }

  // Of the object that is being read.
  std::string object_pointer() const {
    switch (place_) {
      case Place::kStorage:
      case Place::kStorages:
        return "/storages/" + std::to_string(std::max<size_t>(document->storages.size(), 1) - 1);
      case Place::kTensor:
      case Place::kTensors:
      case Place::kDims:
        return "/tensors/" + std::to_string(std::max<size_t>(document->tensors.size(), 1) - 1);
      case Place::kStart:
      case Place::kDocument:
      case Place::kRoots:
      case Place::kEnd: return "";
    }
    __builtin_unreachable();
  }
  // Of the value that is being read.
  std::string pointer() const {
    auto field = [](const Fields& fields) {
      return "/" + std::string(fields.names[fields.current]);
    };
    switch (place_) {
      case Place::kStart:
      case Place::kEnd: return "";
      case Place::kDocument: return document_.seen.none() ? "" : field(document_);
      case Place::kStorages: return "/storages/" + std::to_string(document->storages.size());
      case Place::kTensors: return "/tensors/" + std::to_string(document->tensors.size());
      case Place::kRoots: return "/roots/" + std::to_string(document->roots.size());
      case Place::kStorage:
      case Place::kTensor: return object_pointer() + (row_.seen.none() ? "" : field(row_));
      case Place::kDims:
        return object_pointer() + field(row_) + "/" + std::to_string(dims_->size());
    }
    __builtin_unreachable();
  }

  Place place_ = Place::kStart;
  Fields document_, row_;
  Dims* dims_ = nullptr;  // the list that is being read
  int64_t version_ = 0;
  std::optional<std::string> env_text_;
  SymbolicSizes symbols_;
};

std::shared_ptr<const Document> loads(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF"))
    throw DescError("", "the text begins with a byte order mark");
  if (text.find('\0') != std::string_view::npos) throw DescError("", "the text has a NUL");
  DescReader reader;
  nlohmann::json::sax_parse(text, &reader);
  reader.finish();
  reader.document->source = next_source();
  check(*reader.document);
  return reader.document;
}

}  // namespace slotcore::meta
