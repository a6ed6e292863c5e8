// relu(), whose node saves its own result: the case that would close a cycle of owners if the
// result were saved as it is.
#pragma once

#include "core/autograd/functions/record.h"

namespace slotcore::autograd {

// Throw runtime_error for complex numbers and bools. relu_in_place() also throws what
// check_in_place() throws.
TensorPtr relu(TensorImpl& tensor);
void relu_in_place(TensorImpl& tensor);

}  // namespace slotcore::autograd
