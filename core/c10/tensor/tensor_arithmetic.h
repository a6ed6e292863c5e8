// Arithmetic on elements, as much as tests of memory and aliasing need. Operands broadcast and
// promote as in torch. Nothing here is recorded in a graph; core/autograd/functions does that. All
// functions throw runtime_error, also for operands on different devices: only a number, or a tensor
// on cpu without dimensions, goes with every device.
#pragma once

#include "core/c10/tensor/operation.h"

namespace slotcore::arithmetic {

using TensorPtr = intrusive_ptr<TensorImpl>;
using slotcore::Scalar;

// A tensor, or a number that adapts to the type of the other operand.
struct Operand {
  explicit Operand(TensorImpl& tensor) : tensor(TensorPtr::retain(&tensor)) {}
  explicit Operand(const Scalar& number);

  // This operand, as a node may save it: a number beside a fake is a fake, too.
  Operand beside(const TensorImpl& other) const;

  TensorPtr tensor;
  bool is_number = false;
  Scalar number;  // if it is one
};

// A new tensor, for kAdd and kMultiply; of bool for kEqual and kNotEqual.
TensorPtr compute(Op op, const Operand& a, const Operand& b);
// For kAddInPlace and kMultiplyInPlace. Throws also when the result has another size or does not
// fit the type of `self`, when elements of `self` overlap, or when `self` and `other` overlap in
// part.
void compute_in_place(Op op, TensorImpl& self, const Operand& other);

// Throws if `type` cannot hold `value`.
void check_fits(ScalarType type, const Scalar& value);
// Sets every element to `value`. Throws if the type cannot hold it.
void fill(TensorImpl& self, const Scalar& value);
// Copies and converts; `source` expands to the size of `self`. Errors as for compute_in_place, but
// for devices: `self` on meta takes any source, and NoDataError if only `source` is on meta.
void copy(TensorImpl& self, const Operand& source);

// A copy of the numbers in a new storage, without bits; dense elements keep their strides.
TensorPtr clone(const TensorImpl& self);
// The sum of all elements; integers and bools give an int64.
TensorPtr sum(const TensorImpl& self);
// New contiguous tensors, where a factory makes one on this thread.
TensorPtr ones(const Dims& sizes, ScalarType type, Device device = Device::kCpu);
TensorPtr zeros(const Dims& sizes, ScalarType type, Device device = Device::kCpu);

}  // namespace slotcore::arithmetic
