// Operations that compute new tensors, recorded in the graph. Operands broadcast and promote as in
// arithmetic::compute(), which also says what they throw.
#pragma once

#include "core/autograd/functions/record.h"
#include "core/c10/tensor/tensor_arithmetic.h"

namespace slotcore::autograd {

using arithmetic::Operand;

TensorPtr add(const Operand& a, const Operand& b);
TensorPtr multiply(const Operand& a, const Operand& b);
TensorPtr sum(TensorImpl& tensor);
TensorPtr clone(TensorImpl& tensor);
// The same in new memory with these strides, which reach each element once.
TensorPtr clone_with_strides(TensorImpl& tensor, const Dims& strides);
TensorPtr to_type(TensorImpl& tensor, ScalarType type);

// Nodes of operations that also exist in place, without edges.
intrusive_ptr<Node> make_add_node();
// `a` and `b` are null if the gradient of the other operand is not needed. `is_b_overwritten` says
// that `b` is the tensor that is about to be written, its base, or another view of that.
intrusive_ptr<Node> make_multiply_node(TensorImpl* a, TensorImpl* b, bool is_b_overwritten = false);

}  // namespace slotcore::autograd
