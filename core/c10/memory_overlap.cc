// The rules of torch's TensorIterator for outputs that alias.

#include "core/c10/memory_overlap.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace slotcore {

bool is_dense(const Layout& layout) {
  std::array<size_t, Dims::kLengthMax> order;
  size_t count = 0;
  for (size_t i = 0; i < layout.sizes.size(); i++) {
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
  // As numbers: a storage that has shrunk has no address to which anything may be added.
  auto begin = reinterpret_cast<uintptr_t>(written.data());
  auto end = begin + static_cast<uintptr_t>(written.numel()) * item_size(written.type());
  auto read_begin = reinterpret_cast<uintptr_t>(read.data());
  auto read_end = read_begin + static_cast<uintptr_t>(read.numel()) * item_size(read.type());
  if (std::min(end, read_end) <= std::max(begin, read_begin)) return;
  if (begin == read_begin && end == read_end && written.strides() == read.strides()) return;
  throw std::runtime_error(
      "elements that are read are in the memory that is written to; clone() them first");
}

}  // namespace slotcore
