// The sizes of the fakes that a conversion makes: numbers, new symbols of an environment, or the
// expressions of the document.

#include "core/meta/conversion.h"

namespace slotcore::meta {

// The name of a tensor is the expression that leads to it from the first root.
void Conversion::make_symbols() {
  inputs_.emplace(symbols_.env, symbols_.kind, symbols_.are_known);
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
  for (size_t i = 0; i < names.size(); i++) {
    if (names[i].empty()) names[i] = i == 0 ? first : first + "_" + std::to_string(i);
    const MetaTensorDesc& row = document_.tensors[i];
    auto name = [&](TensorRef ref, const char* link) {
      if (ref && names[static_cast<size_t>(ref.place)].empty())
        names[static_cast<size_t>(ref.place)] = names[i] + link;
    };
    name(row.base, "._base");
    name(row.grad, ".grad");
    if (tensors_[i].is_hit) continue;
    Layout layout{row.size, row.stride, row.storage_offset.value};
    sym_layouts_.emplace(i, inputs_->layout(layout, names[i]));
  }
  for (size_t i = 0; i < names.size(); i++) {
    auto storage = static_cast<size_t>(document_.tensors[i].storage.place);
    if (storages_[storage].is_hit || sym_nbytes_.contains(storage)) continue;
    sym_nbytes_.emplace(storage,
                        inputs_->nbytes(document_.storages[storage].nbytes.value, whole_of(storage),
                                        names[i] + ".untyped_storage()"));
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
