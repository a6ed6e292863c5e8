// Whether elements of tensors are in the same memory, as far as torch asks.
#pragma once

#include "core/c10/tensor_impl.h"

namespace slotcore {

// Whether the elements fill their range of memory, each place once, in whatever order.
bool is_dense(const Layout& layout);

// Throw runtime_error when writing to `written` element by element would depend on the order: if it
// repeats elements, or if it and `read` share a part of their memory. Layouts that are not dense
// are not looked at more closely.
void check_no_internal_overlap(const TensorImpl& written);
void check_no_partial_overlap(const TensorImpl& written, const TensorImpl& read);

}  // namespace slotcore
