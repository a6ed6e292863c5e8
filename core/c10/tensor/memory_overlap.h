// Whether tensors overlap in memory, by torch's rules.
#pragma once

#include "core/c10/tensor/tensor_impl.h"

namespace slotcore {

// Throw runtime_error when writing to `written` element by element would depend on the order: if it
// repeats elements, or if it and `read` share a part of their memory. They do not examine layouts
// that are not dense any further.
void check_no_internal_overlap(const TensorImpl& written);
void check_no_partial_overlap(const TensorImpl& written, const TensorImpl& read);

}  // namespace slotcore
