// Whether tensors overlap in memory, by torch's rules.
#pragma once

#include "core/c10/tensor/tensor_impl.h"

namespace slotcore {

// Throw runtime_error when writing to `written` element by element would depend on the order: if
// its elements may share memory, or if it and `read` share a part of theirs. The second looks at
// dense layouts alone.
void check_no_internal_overlap(const TensorImpl& written);
void check_no_partial_overlap(const TensorImpl& written, const TensorImpl& read);

}  // namespace slotcore
