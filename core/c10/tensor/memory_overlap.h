// Whether tensors overlap in memory, by torch's rules; and the layout of results.
#pragma once

#include <vector>

#include "core/c10/tensor/tensor_impl.h"

namespace slotcore {

// Whether the elements fill a range of memory, each position once, in any order.
bool is_dense(const Layout& layout);

// The strides of a new dense tensor whose elements are in the order of those of the operands, where
// these agree. `operands` are strides for the same sizes, 0 where an operand repeats elements.
Dims strides_like(const Dims& sizes, const std::vector<Dims>& operands);

// Throw runtime_error when writing to `written` element by element would depend on the order: if it
// repeats elements, or if it and `read` share a part of their memory. They do not examine layouts
// that are not dense any further.
void check_no_internal_overlap(const TensorImpl& written);
void check_no_partial_overlap(const TensorImpl& written, const TensorImpl& read);

}  // namespace slotcore
