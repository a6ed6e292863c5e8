// Kernels that derivatives need beside those of tensor_arithmetic.h. All functions throw
// runtime_error when an element lies outside of its storage.
#pragma once

#include "core/c10/tensor/tensor_impl.h"

namespace slotcore::derivatives {

using TensorPtr = intrusive_ptr<TensorImpl>;

// Negative numbers become 0. The strides are those of torch. Throws for complex numbers.
TensorPtr relu(const TensorImpl& self);
void relu_in_place(TensorImpl& self);
// `gradient` where `result` is positive, and 0 elsewhere; both have the same sizes.
TensorPtr where_positive(const TensorImpl& gradient, const TensorImpl& result);
// The numbers converted to `type`, in a new contiguous tensor.
TensorPtr to_type(const TensorImpl& self, ScalarType type);
// Pairs of floats, in the last dimension, as complex numbers; the inverse of view_as_real().
TensorPtr complex_of_pairs(const TensorImpl& pairs);

// Two layouts of one buffer of `length` elements. A view is the linear map that reads the buffer by
// another layout than that in which the elements were written; its derivative is the transposed
// map, with the layouts exchanged.
struct Restriding {
  Layout from;
  Layout to;
  int64_t length = 0;
  // Of a layout that repeats elements of the buffer: whether an element is divided by the number of
  // its repetitions when it is written (kFrom) or read (kTo).
  enum class Share { kNone, kFrom, kTo } share = Share::kNone;

  Restriding transposed() const;
};

// Adds the elements of `self` to a buffer of zeros by the layout `from`, and returns what the
// layout `to` reads there, contiguous. The sizes of `self` are those of `from`.
TensorPtr restride(const TensorImpl& self, const Restriding& map);

}  // namespace slotcore::derivatives
