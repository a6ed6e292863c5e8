// The sizes of the fakes that a conversion makes: numbers, new symbols of an environment, or the
// expressions of the document.

#include "core/meta/conversion.h"

namespace slotcore::meta {

// What a tensor or a storage is known by: its id, and all that its inputs depend on.
std::string Conversion::key_of(const MetaStorageDesc& row) const {
  return "s" + std::to_string(document_.source) + ',' + std::to_string(row.id.value) + ',' +
         name_of(symbols_.kind) + ',' + std::to_string(row.nbytes.value);
}

std::string Conversion::key_of(const MetaTensorDesc& row) const {
  const MetaStorageDesc& storage = document_.storages[static_cast<size_t>(row.storage.place)];
  return "t" + std::to_string(row.id.value) + ',' + text(row.size) + text(row.stride) +
         std::to_string(row.storage_offset.value) + key_of(storage);
}

// The name of a tensor is the one that the environment has for it, or else the expression that
// leads to it from the first root.
void Conversion::make_symbols() {
  inputs_.emplace(symbols_.env, symbols_.kind);
  std::vector<std::string> names(tensors_.size());
  for (size_t i = 0; i < symbols_.names.size(); i++) {
    std::string& name = names[static_cast<size_t>(document_.roots[i].place)];
    if (name.empty()) name = symbols_.names[i];
  }
  std::string first;
  {
    std::lock_guard lock(symbols_.env->mutex);
    first = "t" + std::to_string(symbols_.env->env.inputs().size());
  }
  auto named = [&](const auto& row, const std::string& new_name) -> InputSymbols::Name {
    if (!symbols_.names.empty()) return {new_name, symbols_.are_known};
    return inputs_->named(key_of(row), new_name);
  };
  for (size_t i = 0; i < names.size(); i++) {
    if (tensors_[i].is_hit) continue;  // and so is what it leads to
    if (names[i].empty()) names[i] = i == 0 ? first : first + "_" + std::to_string(i);
    const MetaTensorDesc& row = document_.tensors[i];
    InputSymbols::Name tensor = named(row, names[i]);
    names[i] = tensor.text;
    auto name = [&](TensorRef ref, const char* link) {
      // What a known tensor leads to may have been another one when it got its name.
      if (ref && !(tensor.is_known && symbols_.names.empty()) &&
          names[static_cast<size_t>(ref.place)].empty())
        names[static_cast<size_t>(ref.place)] = names[i] + link;
    };
    name(row.base, "._base");
    name(row.grad, ".grad");
    Layout layout{row.size, row.stride, row.storage_offset.value};
    sym_layouts_.emplace(i, inputs_->layout(layout, tensor));
  }
  for (size_t i = 0; i < names.size(); i++) {
    auto place = static_cast<size_t>(document_.tensors[i].storage.place);
    if (storages_[place].is_hit || sym_nbytes_.contains(place)) continue;
    const MetaStorageDesc& row = document_.storages[place];
    InputSymbols::Name storage = named(row, names[i] + ".untyped_storage()");
    sym_nbytes_.emplace(place, inputs_->nbytes(row.nbytes.value, whole_of(place), storage));
  }
}

void Conversion::take_expressions() {
  for (size_t i = 0; i < tensors_.size(); i++) {
    if (tensors_[i].is_hit) continue;
    const MetaTensorDesc& row = document_.tensors[i];
    SizePlace place{SizePlace::Table::kTensors, static_cast<int64_t>(i), "storage_offset"};
    SymLayout& layout = sym_layouts_[i];
    layout.offset = size_at(place, row.storage_offset.value);
    for (size_t dim = 0; dim < row.size.size(); dim++) {
      place.dim = static_cast<int64_t>(dim);
      place.field = "size";
      layout.sizes.push_back(size_at(place, row.size[dim]));
      place.field = "stride";
      layout.strides.push_back(size_at(place, row.stride[dim]));
    }
  }
  for (size_t i = 0; i < storages_.size(); i++) {
    SizePlace place{SizePlace::Table::kStorages, static_cast<int64_t>(i), "nbytes"};
    sym_nbytes_.emplace(i, size_at(place, document_.storages[i].nbytes.value));
  }
}

SymInt Conversion::size_at(const SizePlace& place, int64_t number) const {
  auto found = document_.symbols->exprs.find(place);
  if (found == document_.symbols->exprs.end()) return number;
  return sym_int_of(symbols_.env, found->second);
}

std::optional<SymInt> Conversion::whole_of(size_t storage) const {
  for (size_t i = 0; i < tensors_.size(); i++) {
    const MetaTensorDesc& row = document_.tensors[i];
    if (tensors_[i].is_hit) continue;
    if (static_cast<size_t>(row.storage.place) != storage || row.storage_offset.value != 0)
      continue;
    if (row.stride != contiguous_strides(row.size)) continue;
    auto item = static_cast<int64_t>(item_size(row.dtype));
    if (element_count(row.size) * item != document_.storages[storage].nbytes.value) continue;
    SymInt bytes = item;
    for (const SymInt& size : sym_layouts_.at(i).sizes) bytes = bytes * size;
    return bytes;
  }
  return std::nullopt;
}

SymLayout Conversion::layout_of(size_t place) const {
  if (symbols_.env) return sym_layouts_.at(place);
  const MetaTensorDesc& row = document_.tensors[place];
  return symbolic(Layout{row.size, row.stride, row.storage_offset.value});
}

}  // namespace slotcore::meta
