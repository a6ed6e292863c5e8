// The layouts of results: operands that broadcast, and torch's order of elements.

#include "core/c10/shapes/sym_int.h"

namespace slotcore {

template <class Int>
BasicDims<Int> broadcast_sizes(const BasicDims<Int>& a, const BasicDims<Int>& b) {
  const BasicDims<Int>& longer = a.size() >= b.size() ? a : b;
  const BasicDims<Int>& shorter = a.size() >= b.size() ? b : a;
  BasicDims<Int> sizes = longer;
  size_t added = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); i++) {
    Int& size = sizes[added + i];
    if (size == 1) {
      size = shorter[i];
    } else if (shorter[i] != 1 && shorter[i] != size) {
      throw std::runtime_error("the sizes " + text(a) + " and " + text(b) + " do not fit together");
    }
  }
  return sizes;
}

template <class Int>
BasicDims<Int> broadcast_strides(const BasicDims<Int>& sizes, const BasicDims<Int>& strides,
                                 const BasicDims<Int>& wanted) {
  BasicDims<Int> result = wanted;
  bool fits = sizes.size() <= wanted.size();
  size_t added = fits ? wanted.size() - sizes.size() : 0;
  for (size_t i = 0; fits && i < wanted.size(); i++) {
    bool repeats = i < added || (sizes[i - added] == 1 && wanted[i] != 1);
    fits = repeats || sizes[i - added] == wanted[i];
    result[i] = repeats ? Int(0) : strides[i - added];
  }
  if (!fits)
    throw std::runtime_error("the size " + text(sizes) + " does not expand to " + text(wanted));
  return result;
}

template <class Int>
BasicDims<Int> strides_like(const BasicDims<Int>& sizes,
                            const std::vector<BasicDims<Int>>& operands) {
  // Whether dimension `a` is further out than `b`: 1 yes, -1 no, 0 undecided.
  auto compare = [&](size_t a, size_t b) {
    for (const BasicDims<Int>& strides : operands) {
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
  // torch counts a size of 0 as 1 in contiguous strides, and as it is in others.
  bool is_contiguous = true;
  for (size_t i = 0; i < sizes.size(); i++) is_contiguous &= order[i] == sizes.size() - 1 - i;
  BasicDims<Int> strides = sizes;
  Int stride = 1;
  for (size_t i = 0; i < sizes.size(); i++) {
    strides[order[i]] = stride;
    if (!is_contiguous || sizes[order[i]] > 1)
      stride = stride * sizes[order[i]];  // no overflow: element_count() passed
  }
  return strides;
}

template <class Int>
BasicLayout<Int> result_layout(const BasicLayout<Int>& a, const BasicLayout<Int>& b) {
  BasicDims<Int> sizes = broadcast_sizes(a.sizes, b.sizes);
  bool expand = a.sizes != sizes || b.sizes != sizes;
  element_count(sizes);
  if (!expand && is_contiguous(a) && is_contiguous(b)) return contiguous_layout(sizes, Int(0));
  if (!expand && a.strides == b.strides && is_dense(a)) return {sizes, a.strides, 0};
  std::vector<BasicDims<Int>> strides;
  for (const BasicLayout<Int>* operand : {&a, &b})
    strides.push_back(broadcast_strides(operand->sizes, operand->strides, sizes));
  return {sizes, strides_like(sizes, strides), 0};
}

template <class Int>
BasicLayout<Int> copy_layout(const BasicLayout<Int>& layout) {
  if (is_dense(layout)) return {layout.sizes, layout.strides, 0};
  return {layout.sizes, strides_like(layout.sizes, {layout.strides}), 0};
}

template Dims broadcast_sizes(const Dims&, const Dims&);
template Dims broadcast_strides(const Dims&, const Dims&, const Dims&);
template Dims strides_like(const Dims&, const std::vector<Dims>&);
template Layout result_layout(const Layout&, const Layout&);
template Layout copy_layout(const Layout&);
template SymDims broadcast_sizes(const SymDims&, const SymDims&);
template SymDims broadcast_strides(const SymDims&, const SymDims&, const SymDims&);
template SymDims strides_like(const SymDims&, const std::vector<SymDims>&);
template SymLayout result_layout(const SymLayout&, const SymLayout&);
template SymLayout copy_layout(const SymLayout&);

}  // namespace slotcore
