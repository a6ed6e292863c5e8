// The rules of torch's TensorIterator for outputs that alias.

#include "core/c10/tensor/memory_overlap.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace slotcore {

bool is_dense(const Layout& layout) {
  std::array<size_t, Dims::kLengthMax> order;
  size_t count = 0;
  for (size_t i = 0; i < layout.sizes.size(); i++) {
    if (layout.sizes[i] == 0) return true;
    if (layout.sizes[i] > 1) order[count++] = i;
  }
  std::sort(order.begin(), order.begin() + count,
            [&](size_t a, size_t b) { return layout.strides[a] < layout.strides[b]; });
  int64_t expected = 1;
  for (size_t i = 0; i < count; i++) {
    if (layout.strides[order[i]] != expected) return false;
    expected *= layout.sizes[order[i]];  // no overflow: element_count() passed
  }
  return true;
}

Dims strides_like(const Dims& sizes, const std::vector<Dims>& operands) {
  // Whether dimension `a` is further out than `b`: 1 yes, -1 no, 0 undecided.
  auto compare = [&](size_t a, size_t b) {
    for (const Dims& strides : operands) {
      if (strides[a] == 0 || strides[b] == 0) continue;
      if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
      if (sizes[a] > sizes[b]) return 1;
    }
    return 0;
  };
  // Insertion sort from the innermost dimension: undecided dimensions keep their order.
  std::array<size_t, Dims::kLengthMax> order;
  for (size_t i = 0; i < sizes.size(); i++) order[i] = sizes.size() - 1 - i;
  for (size_t i = 1; i < sizes.size(); i++) {
    size_t place = i;
    for (size_t j = i; j-- > 0;) {
      int comparison = compare(order[j], order[place]);
      if (comparison < 0) break;
      if (comparison == 0) continue;
      std::swap(order[j], order[place]);
      place = j;
    }
  }
  Dims strides = sizes;
  int64_t stride = 1;
  for (size_t i = 0; i < sizes.size(); i++) {
    strides[order[i]] = stride;
    if (sizes[order[i]] > 1) stride *= sizes[order[i]];  // no overflow: element_count() passed
  }
  return strides;
}

void check_no_internal_overlap(const TensorImpl& written) {
  if (is_dense(written.layout())) return;
  for (size_t i = 0; i < written.sizes().size(); i++) {
    if (written.strides()[i] == 0 && written.sizes()[i] > 1) {
      throw std::runtime_error(
          "more than one element of the tensor that is written to is at one place in memory;"
          " clone() it first");
    }
  }
}

void check_no_partial_overlap(const TensorImpl& written, const TensorImpl& read) {
  if (&written == &read || written.numel() == 0 || read.numel() == 0) return;
  if (!is_dense(written.layout()) || !is_dense(read.layout())) return;
  // On meta there are no addresses, and storages do not share bytes.
  bool is_meta = !written.place().has_bytes();
  if (is_meta && written.storage() != read.storage()) return;
  // As integers: a storage that has shrunk to nothing has a null address, to which C++ adds
  // nothing.
  auto begin_of = [&](const TensorImpl& tensor) {
    return is_meta ? static_cast<uintptr_t>(tensor.offset()) * item_size(tensor.type())
                   : reinterpret_cast<uintptr_t>(tensor.data());
  };
  auto begin = begin_of(written);
  auto end = begin + static_cast<uintptr_t>(written.numel()) * item_size(written.type());
  auto read_begin = begin_of(read);
  auto read_end = read_begin + static_cast<uintptr_t>(read.numel()) * item_size(read.type());
  if (std::min(end, read_end) <= std::max(begin, read_begin)) return;
  if (begin == read_begin && end == read_end && written.strides() == read.strides()) return;
  throw std::runtime_error(
      "elements that are read are in the memory that is written to; clone() them first");
}

}  // namespace slotcore
