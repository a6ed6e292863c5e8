// The rules of torch's TensorIterator for outputs that alias.

#include "core/c10/tensor/memory_overlap.h"

#include <algorithm>
#include <stdexcept>

namespace slotcore {

void check_no_internal_overlap(const TensorImpl& written) {
  // That a layout is dense is often known without a decision about its symbols.
  auto is_shared = [](const auto& layout) { return !is_dense(layout) && may_overlap(layout); };
  if (with_layouts(is_shared, written)) {
    throw std::runtime_error(
        "elements of the tensor that is written to may share memory; clone() it first");
  }
}

void check_no_partial_overlap(const TensorImpl& written, const TensorImpl& read) {
  // On meta there are no addresses, and storages do not share bytes.
  bool is_meta = !written.place().has_bytes();
  if (&written == &read || (is_meta && written.storage() != read.storage())) return;
  if (written.numel() == 0 || read.numel() == 0) return;
  if (!is_dense(written.layout()) || !is_dense(read.layout())) return;
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
