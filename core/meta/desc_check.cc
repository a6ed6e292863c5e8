// One function for each part of a description, in the order in which an error is reported.

#include "core/meta/desc_check.h"

#include <unordered_map>
#include <vector>

#include "core/c10/tensor/tensor_impl.h"

namespace slotcore::meta {
namespace {

class Check {
 public:
  explicit Check(const Document& document) : document_(document) {}

  void run() {
    if (document_.roots.empty()) fail("/roots", "there is no root");
    check_ids("/storages/", document_.storages);
    check_ids("/tensors/", document_.tensors);
    for (place_ = 0; place_ < document_.storages.size(); place_++)
      storage(document_.storages[place_]);
    for (place_ = 0; place_ < document_.tensors.size(); place_++) {
      references(document_.tensors[place_]);
      layout(document_.tensors[place_]);
      flags(document_.tensors[place_]);
      versions(document_.tensors[place_]);
    }
    reach();
  }

 private:
  [[noreturn]] static void fail(const std::string& pointer, const std::string& message) {
    throw DescError(pointer, message);
  }
  [[noreturn]] void fail_at(const char* field, const std::string& message) const {
    fail("/tensors/" + std::to_string(place_) + "/" + field, message);
  }

  template <class Rows>
  static void check_ids(const std::string& table, const Rows& rows) {
    for (size_t i = 0; i < rows.size(); i++) {
      if (rows[i].id.value != static_cast<int64_t>(i)) {
        fail(table + std::to_string(i) + "/id",
             "expected " + std::to_string(i) + ", the place of the row");
      }
    }
  }

  void storage(const MetaStorageDesc& row) const {
    std::string pointer = "/storages/" + std::to_string(place_) + "/data";
    if (!row.data) return;
    if (row.device == Device::kMeta) fail(pointer, "a storage on meta has no bytes");
    if (row.data->size() % 2 != 0 ||
        row.data->size() / 2 != static_cast<size_t>(row.nbytes.value)) {
      fail(pointer, "expected two digits for each of " + std::to_string(row.nbytes.value) +
                        " bytes, got " + std::to_string(row.data->size()) + " digits");
    }
    if (row.data->find_first_not_of("0123456789abcdef") != std::string::npos)
      fail(pointer, "expected digits 0 to 9 and a to f");
  }

  void tensor_reference(const char* field, TensorRef ref) const {
    if (static_cast<size_t>(ref.place) >= document_.tensors.size())
      fail_at(field, "there is no tensor " + std::to_string(ref.place));
  }

  void references(const MetaTensorDesc& row) const {
    if (static_cast<size_t>(row.storage.place) >= document_.storages.size())
      fail_at("storage", "there is no storage " + std::to_string(row.storage.place));
    if (row.base) {
      tensor_reference("base", row.base);
      if (static_cast<size_t>(row.base.place) == place_)
        fail_at("base", "a tensor is no view of itself");
      if (base_of(row).base) fail_at("base", "the base is a view itself");
      if (device_of(base_of(row)) != device_of(row)) fail_at("base", "it is on another device");
    }
    if (row.grad) {
      tensor_reference("grad", row.grad);
      if (static_cast<size_t>(row.grad.place) == place_)
        fail_at("grad", "a tensor is not its own gradient");
      if (device_of(document_.tensors[static_cast<size_t>(row.grad.place)]) != device_of(row))
        fail_at("grad", "it is on another device");
    }
  }

  void layout(const MetaTensorDesc& row) const {
    try {
      check_layout(Layout{row.size, row.stride, row.storage_offset.value}, row.dtype);
    } catch (const std::runtime_error& error) {
      fail_at("size", error.what());
    }
  }

  void flags(const MetaTensorDesc& row) const {
    bool base_requires = row.base && base_of(row).requires_grad && is_differentiable(row.dtype);
    if (row.requires_grad && !is_differentiable(row.dtype))
      fail_at("requires_grad", std::string("there are no gradients of ") + name_of(row.dtype));
    if (!row.is_leaf && !row.requires_grad && !base_requires)
      fail_at("is_leaf", "what was computed requires a gradient, or its base does");
    if (row.creation_meta != CreationMeta::kDefault && !row.base)
      fail_at("creation_meta", "only a view has one");
    if (row.is_conj && !is_complex(row.dtype))
      fail_at("is_conj", std::string("a number of ") + name_of(row.dtype) + " has no conjugate");
  }

  void versions(const MetaTensorDesc& row) {
    auto [first, is_new] = groups_.try_emplace(row.version_group.value, place_);
    if (!is_new && document_.tensors[first->second].version != row.version) {
      fail_at("version",
              "tensor " + std::to_string(first->second) + " of the same group has another version");
    }
    if (row.base && !(base_of(row).version_group == row.version_group))
      fail_at("version_group", "a view and its base count their writes together");
  }

  // Every row is reached from the roots.
  void reach() const {
    std::vector<bool> tensors(document_.tensors.size()), storages(document_.storages.size());
    std::vector<int64_t> found;
    auto visit = [&](TensorRef ref) {
      if (!ref || tensors[static_cast<size_t>(ref.place)]) return;
      tensors[static_cast<size_t>(ref.place)] = true;
      found.push_back(ref.place);
    };
    for (size_t i = 0; i < document_.roots.size(); i++) {
      TensorRef root = document_.roots[i];
      if (static_cast<size_t>(root.place) >= tensors.size()) {
        fail("/roots/" + std::to_string(i), "there is no tensor " + std::to_string(root.place));
      }
      visit(root);
    }
    while (!found.empty()) {
      const MetaTensorDesc& row = document_.tensors[static_cast<size_t>(found.back())];
      found.pop_back();
      storages[static_cast<size_t>(row.storage.place)] = true;
      visit(row.base);
      visit(row.grad);
    }
    fail_unless_all("/tensors/", tensors);
    fail_unless_all("/storages/", storages);
  }
  static void fail_unless_all(const std::string& table, const std::vector<bool>& reached) {
    for (size_t i = 0; i < reached.size(); i++) {
      if (!reached[i]) fail(table + std::to_string(i), "no root leads to it");
    }
  }

  const MetaTensorDesc& base_of(const MetaTensorDesc& row) const {
    return document_.tensors[static_cast<size_t>(row.base.place)];
  }
  // Of a row whose storage may not have been checked yet.
  Device device_of(const MetaTensorDesc& row) const {
    auto place = static_cast<size_t>(row.storage.place);
    return place < document_.storages.size() ? document_.storages[place].device : Device::kCpu;
  }

  const Document& document_;
  size_t place_ = 0;
  std::unordered_map<int64_t, size_t> groups_;  // the first tensor of each
};

int64_t value_of(const SizeExpr& expr, const ShapeEnv& env, const SizePlace& place) {
  auto fail = [&](const std::string& message) { throw DescError(pointer_of(place), message); };
  if (!env.has_symbols_of(expr)) fail("there is no such symbol");
  if (expr.has_unbacked()) fail("only the data decides this size");
  int64_t value = 0;
  try {
    if (env.simplify(expr) != expr) fail("the environment replaces a symbol of this");
    value = env.hint(expr);
  } catch (const std::overflow_error& error) {
    fail(error.what());
  } catch (const std::length_error& error) {
    fail(error.what());
  } catch (const std::domain_error& error) {
    fail(error.what());
  }
  bool is_natural = place.dim == kNone;
  if (is_natural && value < 0) fail("the value for the example is negative");
  return value;
}

}  // namespace

void set_numbers(Document& document, const SymbolicSizes& symbols) {
  for (const auto& [place, expr] : symbols.exprs)
    number_at(document, place) = value_of(expr, symbols.env, place);
}

void check(const Document& document) { Check(document).run(); }

}  // namespace slotcore::meta
