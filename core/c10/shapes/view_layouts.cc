// One function for each kind of view.

#include "core/c10/shapes/view_layouts.h"

#include <optional>

#include "core/c10/shapes/sym_int.h"

namespace slotcore::views {
namespace {

// Computes the size that is -1, if there is one; element_count() of the result is `numel`.
template <class Int>
BasicDims<Int> infer_size(BasicDims<Int> sizes, const Int& numel) {
  const std::string wanted = text(sizes);
  Int known = 1;
  Int* inferred = nullptr;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (inferred == nullptr && sizes[i] == -1) {
      inferred = &sizes[i];
    } else if (sizes[i] < 0) {
      throw std::runtime_error("only one size may be -1, and none less: " + wanted);
    } else {
      known = checked_multiply(known, sizes[i]);
    }
  }
  if (inferred != nullptr && known != 0) *inferred = numel / known;
  bool fits = inferred == nullptr ? known == numel : known != 0 && known * *inferred == numel;
  if (!fits) {
    throw std::runtime_error("the size " + wanted + " does not fit " + text(numel) + " elements");
  }
  return sizes;
}

// The strides that give the elements of `layout` the shape `sizes`, in the same order; nullopt if
// no strides can. Regroups runs of dimensions whose elements follow each other.
template <class Int>
std::optional<BasicDims<Int>> strides_for(const BasicLayout<Int>& layout,
                                          const BasicDims<Int>& sizes) {
  if (element_count(sizes) == 0)
    return layout.sizes == sizes ? layout.strides : contiguous_strides(sizes);
  BasicDims<Int> strides = sizes;
  size_t next = sizes.size();  // the sizes from here on are done
  Int run = 1;                 // elements in the run, whose last ones are `step` apart
  Int step = layout.sizes.size() == 0 ? Int(1) : layout.strides[layout.sizes.size() - 1];
  for (size_t i = layout.sizes.size(); i-- > 0;) {
    run = run * layout.sizes[i];
    if (i > 0 &&
        (layout.sizes[i - 1] == 1 || layout.strides[i - 1] == checked_multiply(run, step))) {
      continue;
    }
    Int cut = 1;
    while (next > 0 && (cut < run || sizes[next - 1] == 1)) {
      next--;
      strides[next] = checked_multiply(cut, step);
      cut = cut * sizes[next];
    }
    if (cut != run) return std::nullopt;
    if (i > 0) {
      run = 1;
      step = layout.strides[i - 1];
    }
  }
  for (; next > 0; next--) strides[next - 1] = 1;  // only sizes of 1 are left
  return strides;
}

// The place of an index of a dimension of this size, which may count from the end.
template <class Int>
Int from_start(const Int& index, const Int& size) {
  return index < 0 ? index + size : index;
}

}  // namespace

template <class Int>
BasicLayout<Int> viewed(const BasicLayout<Int>& layout, const BasicDims<Int>& wanted) {
  BasicDims<Int> sizes = infer_size(wanted, element_count(layout.sizes));
  std::optional<BasicDims<Int>> strides = strides_for(layout, sizes);
  if (!strides) {
    throw std::runtime_error("the strides " + text(layout.strides) + " of the size " +
                             text(layout.sizes) + " do not allow a view of " + text(sizes));
  }
  return {sizes, *strides, layout.offset};
}

template <class Int>
BasicLayout<Int> viewed_as(const BasicLayout<Int>& former_layout, int64_t former, int64_t wanted) {
  BasicLayout<Int> layout = former_layout;
  size_t rank = layout.sizes.size();
  if (rank == 0) throw std::runtime_error("a tensor without dimensions has no place for more");
  if (layout.strides[rank - 1] != 1)
    throw std::runtime_error("numbers of another size need a last stride of 1");
  // In units of the new element size.
  auto rescale = [&](const Int& value) -> Int {
    if (former > wanted) return checked_multiply(value, former / wanted);
    if (value % (wanted / former) != 0) {
      throw std::runtime_error("numbers of another size do not fit the strides " +
                               text(layout.strides) + " of the size " + text(layout.sizes));
    }
    return value / (wanted / former);
  };
  layout.offset = rescale(layout.offset);
  layout.sizes[rank - 1] = rescale(layout.sizes[rank - 1]);
  for (size_t i = 0; i + 1 < rank; i++) layout.strides[i] = rescale(layout.strides[i]);
  return layout;
}

template <class Int>
BasicLayout<Int> pairs(const BasicLayout<Int>& complex) {
  BasicLayout<Int> layout = complex;
  for (Int& stride : layout.strides) stride = checked_multiply(stride, 2);
  layout.offset = checked_multiply(layout.offset, 2);
  layout.sizes.push_back(2);
  layout.strides.push_back(1);
  return layout;
}

template <class Int>
BasicLayout<Int> narrowed(const BasicLayout<Int>& whole, int64_t dim, Int start, Int length) {
  if (whole.sizes.size() == 0)
    throw std::runtime_error("a tensor without dimensions cannot be narrowed");
  size_t place = checked_dim(dim, whole.sizes.size());
  const Int& size = whole.sizes[place];
  if (start < 0 - size || start > size) {
    throw std::out_of_range("the start " + text(start) + " is outside of a dimension of size " +
                            text(size));
  }
  start = from_start(start, size);
  if (length < 0 || length > size - start) {
    throw std::runtime_error("start " + text(start) + " and length " + text(length) +
                             " exceed a dimension of size " + text(size));
  }
  BasicLayout<Int> layout = whole;
  layout.sizes[place] = length;
  layout.offset = checked_add(layout.offset, checked_multiply(start, layout.strides[place]));
  return layout;
}

template <class Int>
BasicLayout<Int> sliced(const BasicLayout<Int>& whole, Int start, Int length, int64_t step) {
  BasicLayout<Int> layout = whole;
  layout.sizes[0] = length;
  layout.offset = checked_add(layout.offset, checked_multiply(start, layout.strides[0]));
  layout.strides[0] = checked_multiply(layout.strides[0], step);
  return layout;
}

template <class Int>
BasicLayout<Int> selected(const BasicLayout<Int>& whole, int64_t dim, Int index) {
  size_t place = checked_dim(dim, whole.sizes.size());
  const Int& size = whole.sizes[place];
  if (index < 0 - size || index >= size) {
    throw std::out_of_range("index " + text(index) + " is outside of a dimension of size " +
                            text(size));
  }
  index = from_start(index, size);
  BasicLayout<Int> layout = whole;
  layout.offset = checked_add(layout.offset, checked_multiply(index, layout.strides[place]));
  layout.sizes.erase(place);
  layout.strides.erase(place);
  return layout;
}

template <class Int>
BasicLayout<Int> transposed(const BasicLayout<Int>& rows, int64_t a, int64_t b) {
  BasicLayout<Int> layout = rows;
  size_t first = checked_dim(a, layout.sizes.size());
  size_t second = checked_dim(b, layout.sizes.size());
  std::swap(layout.sizes[first], layout.sizes[second]);
  std::swap(layout.strides[first], layout.strides[second]);
  return layout;
}

template <class Int>
BasicLayout<Int> expanded(const BasicLayout<Int>& layout, const BasicDims<Int>& wanted) {
  BasicDims<Int> sizes = wanted;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] != -1) continue;
    if (i + layout.sizes.size() < sizes.size())
      throw std::runtime_error("the size of a new dimension cannot be -1: " + text(sizes));
    // If `sizes` has fewer dimensions than the tensor, broadcast_strides() throws.
    size_t place = i + layout.sizes.size() - sizes.size();
    if (layout.sizes.size() <= sizes.size()) sizes[i] = layout.sizes[place];
  }
  element_count(sizes);
  return {sizes, broadcast_strides(layout.sizes, layout.strides, sizes), layout.offset};
}

template Layout viewed(const Layout&, const Dims&);
template Layout viewed_as(const Layout&, int64_t, int64_t);
template Layout pairs(const Layout&);
template Layout narrowed(const Layout&, int64_t, int64_t, int64_t);
template Layout sliced(const Layout&, int64_t, int64_t, int64_t);
template Layout selected(const Layout&, int64_t, int64_t);
template Layout transposed(const Layout&, int64_t, int64_t);
template Layout expanded(const Layout&, const Dims&);
template SymLayout viewed(const SymLayout&, const SymDims&);
template SymLayout viewed_as(const SymLayout&, int64_t, int64_t);
template SymLayout pairs(const SymLayout&);
template SymLayout narrowed(const SymLayout&, int64_t, SymInt, SymInt);
template SymLayout sliced(const SymLayout&, SymInt, SymInt, int64_t);
template SymLayout selected(const SymLayout&, int64_t, SymInt);
template SymLayout transposed(const SymLayout&, int64_t, int64_t);
template SymLayout expanded(const SymLayout&, const SymDims&);

}  // namespace slotcore::views
