// Loops over elements: what the functions of tensor_arithmetic.h do, without a record for a tracer.
#pragma once

#include "core/c10/tensor/tensor_arithmetic.h"

namespace slotcore::arithmetic::loops {

TensorPtr new_result(Op op, const Operand& a, const Operand& b);
void write_result(Op op, TensorImpl& self, const Operand& other);
void write_number(TensorImpl& self, const Scalar& value);
void write_copy(TensorImpl& self, const Operand& source);
TensorPtr new_copy(const TensorImpl& self);
// A new tensor of the type of `a` with the layout of a result of both; its elements are not written
// yet.
TensorPtr new_like(const TensorImpl& a, const TensorImpl& b);
TensorPtr new_sum(const TensorImpl& self);
// A new tensor where a factory makes one on this thread; its elements are `value`.
TensorPtr new_filled(const Dims& sizes, ScalarType type, Device device, bool value);

}  // namespace slotcore::arithmetic::loops
