// The layouts of views: what a view reads of a tensor, by the layout of that tensor alone. Each
// function throws runtime_error when sizes do not fit, and out_of_range for a dimension or an index
// that does not exist. A dimension may count from the end.
#pragma once

#include "core/c10/shapes/layout.h"

namespace slotcore::views {

// Other sizes for the same elements in the same order. One size may be -1; it is computed.
template <class Int>
BasicLayout<Int> viewed(const BasicLayout<Int>& layout, const BasicDims<Int>& sizes);
// Elements of `former` bytes, read as elements of `wanted` bytes.
template <class Int>
BasicLayout<Int> viewed_as(const BasicLayout<Int>& layout, int64_t former, int64_t wanted);
// Complex numbers as pairs in a new last dimension.
template <class Int>
BasicLayout<Int> pairs(const BasicLayout<Int>& layout);
// `length` positions of a dimension from `start` on.
template <class Int>
BasicLayout<Int> narrowed(const BasicLayout<Int>& layout, int64_t dim, Int start, Int length);
// `length` positions of the first dimension, each `step`-th from `start` on; not checked further.
template <class Int>
BasicLayout<Int> sliced(const BasicLayout<Int>& layout, Int start, Int length, int64_t step);
// One position of a dimension, which the result lacks.
template <class Int>
BasicLayout<Int> selected(const BasicLayout<Int>& layout, int64_t dim, Int index);
// Of at least one dimension.
template <class Int>
BasicLayout<Int> transposed(const BasicLayout<Int>& layout, int64_t a, int64_t b);
// Repeats dimensions of size 1 and new leading ones; -1 keeps a size.
template <class Int>
BasicLayout<Int> expanded(const BasicLayout<Int>& layout, const BasicDims<Int>& sizes);

}  // namespace slotcore::views
