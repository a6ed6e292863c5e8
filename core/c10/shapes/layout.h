// BasicLayout: where the elements of a tensor are in its storage; what may be asked of a layout,
// and the layouts of results.
#pragma once

#include <vector>

#include "core/c10/shapes/dims.h"

namespace slotcore {

// Counted in elements.
template <class Int>
struct BasicLayout {
  BasicDims<Int> sizes;
  BasicDims<Int> strides;
  Int offset = 0;

  bool operator==(const BasicLayout&) const = default;
};

using Layout = BasicLayout<int64_t>;

// Elements in row-major order without gaps. Throws what element_count() throws.
template <class Int>
BasicLayout<Int> contiguous_layout(const BasicDims<Int>& sizes, Int offset = 0);
// Throws runtime_error when a size, stride or the offset is negative, or the address of an element
// cannot be computed.
template <class Int>
void check_layout(const BasicLayout<Int>& layout, ScalarType type);

// The number of bytes from the start of the storage to the end of the last element; 0 without
// elements. Strides are not negative.
template <class Int>
Int bytes_needed(const BasicLayout<Int>& layout, ScalarType type);
// Whether the elements follow each other in row-major order.
template <class Int>
bool is_contiguous(const BasicLayout<Int>& layout);
// Whether the elements fill a range of memory, each position once, in any order.
template <class Int>
bool is_dense(const BasicLayout<Int>& layout);
// Whether a stride lets elements share memory: it does not pass over all that smaller ones reach.
// So it is true of some layouts that interleave without sharing, as strides (2, 3) of sizes (3, 2).
template <class Int>
bool may_overlap(const BasicLayout<Int>& layout);

// The sizes that both broadcast to. Throws runtime_error when they do not fit.
template <class Int>
BasicDims<Int> broadcast_sizes(const BasicDims<Int>& a, const BasicDims<Int>& b);
// The strides that read elements of `sizes` and `strides` as `wanted`, where new dimensions and
// those of size 1 repeat. Throws runtime_error when they do not fit.
template <class Int>
BasicDims<Int> broadcast_strides(const BasicDims<Int>& sizes, const BasicDims<Int>& strides,
                                 const BasicDims<Int>& wanted);

// The strides of a new dense tensor whose elements are in the order of those of the operands, where
// these agree. `operands` are strides for the same sizes, 0 where an operand repeats elements.
template <class Int>
BasicDims<Int> strides_like(const BasicDims<Int>& sizes,
                            const std::vector<BasicDims<Int>>& operands);
// torch's layout for the result of two operands that broadcast.
template <class Int>
BasicLayout<Int> result_layout(const BasicLayout<Int>& a, const BasicLayout<Int>& b);
// torch's layout for a copy.
template <class Int>
BasicLayout<Int> copy_layout(const BasicLayout<Int>& layout);

}  // namespace slotcore
