// Operations that write a tensor in place, recorded in the graph. They throw what check_in_place()
// and the functions of tensor_arithmetic.h throw; then nothing is recorded.
#pragma once

#include "core/autograd/functions/record.h"
#include "core/c10/tensor/tensor_arithmetic.h"

namespace slotcore::autograd {

using arithmetic::Operand;
using arithmetic::Scalar;

void add_in_place(TensorImpl& self, const Operand& other);
void multiply_in_place(TensorImpl& self, const Operand& other);
void fill_in_place(TensorImpl& self, const Scalar& value);
// Sets every element to that of `value`, which has no dimensions, and may be an element of `self`.
void fill_in_place(TensorImpl& self, TensorImpl& value);
void copy_in_place(TensorImpl& self, const Operand& source);
// Other storage and layout, as by set_(). `source` is the tensor whose elements these are, or null.
// Returns the former storage; the caller drops it where user code may run.
[[nodiscard]] intrusive_ptr<StorageImpl> set_in_place(TensorImpl& self,
                                                      intrusive_ptr<StorageImpl> storage,
                                                      const Layout& layout, TensorImpl* source);

}  // namespace slotcore::autograd
