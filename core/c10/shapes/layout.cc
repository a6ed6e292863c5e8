// What may be asked of one layout. result_layouts.cc has the rules for two.

#include "core/c10/shapes/layout.h"

#include "core/c10/shapes/sym_int.h"

namespace slotcore {

template <class Int>
BasicLayout<Int> contiguous_layout(const BasicDims<Int>& sizes, Int offset) {
  element_count(sizes);
  return {sizes, contiguous_strides(sizes), offset};
}

template <class Int>
void check_layout(const BasicLayout<Int>& layout, ScalarType type) {
  if (layout.sizes.size() != layout.strides.size()) {
    throw std::runtime_error("the number of sizes and of strides differ: " + text(layout.sizes) +
                             " and " + text(layout.strides));
  }
  if (layout.offset < 0) throw std::runtime_error("the storage offset cannot be negative");
  for (const Int& stride : layout.strides) {
    if (stride < 0)
      throw std::runtime_error("a stride cannot be negative: " + text(layout.strides));
  }
  element_count(layout.sizes);
  bytes_needed(layout, type);
  // The address of the first element must be computable, even if the tensor has no elements.
  checked_multiply(layout.offset, static_cast<int64_t>(item_size(type)));
}

template <class Int>
Int bytes_needed(const BasicLayout<Int>& layout, ScalarType type) {
  Int last = layout.offset;
  for (size_t i = 0; i < layout.sizes.size(); i++) {
    if (layout.sizes[i] == 0) return 0;
    last = checked_add(last, checked_multiply(layout.sizes[i] - 1, layout.strides[i]));
  }
  return checked_multiply(checked_add(last, 1), static_cast<int64_t>(item_size(type)));
}

template <class Int>
bool is_contiguous(const BasicLayout<Int>& layout) {
  for (const Int& size : layout.sizes) {
    if (size == 0) return true;
  }
  Int expected = 1;
  for (size_t i = layout.sizes.size(); i-- > 0;) {
    if (layout.sizes[i] != 1 && layout.strides[i] != expected) return false;
    expected = expected * layout.sizes[i];  // no overflow: element_count() passed
  }
  return true;
}

// The dimensions of more than one element, in the order of their strides; none if a size is 0.
template <class Int>
static BasicDims<size_t> dims_by_stride(const BasicLayout<Int>& layout) {
  BasicDims<size_t> order;
  for (size_t i = 0; i < layout.sizes.size(); i++) {
    if (layout.sizes[i] == 0) return {};
    if (layout.sizes[i] > 1) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return layout.strides[a] < layout.strides[b]; });
  return order;
}

template <class Int>
bool is_dense(const BasicLayout<Int>& layout) {
  Int expected = 1;
  for (size_t i : dims_by_stride(layout)) {
    if (layout.strides[i] != expected) return false;
    expected = expected * layout.sizes[i];  // no overflow: element_count() passed
  }
  return true;
}

template <class Int>
bool may_overlap(const BasicLayout<Int>& layout) {
  Int last = 0;  // where the last element of the dimensions so far is
  for (size_t i : dims_by_stride(layout)) {
    if (layout.strides[i] <= last) return true;
    last = last + (layout.sizes[i] - 1) * layout.strides[i];  // no overflow: check_layout() passed
  }
  return false;
}

template Layout contiguous_layout(const Dims&, int64_t);
template void check_layout(const Layout&, ScalarType);
template int64_t bytes_needed(const Layout&, ScalarType);
template bool is_contiguous(const Layout&);
template bool is_dense(const Layout&);
template bool may_overlap(const Layout&);
template SymLayout contiguous_layout(const SymDims&, SymInt);
template void check_layout(const SymLayout&, ScalarType);
template SymInt bytes_needed(const SymLayout&, ScalarType);
template bool is_contiguous(const SymLayout&);
template bool is_dense(const SymLayout&);
template bool may_overlap(const SymLayout&);

}  // namespace slotcore
