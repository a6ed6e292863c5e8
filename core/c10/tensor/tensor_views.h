// The views that torch has: new tensors over the elements of another tensor. Each function makes a
// view with TensorImpl::make_view(). It throws runtime_error when sizes do not fit, and
// out_of_range for a dimension or an index that does not exist. A dimension may count from the end.
// A function that selects or reorders elements also throws runtime_error when the storage has
// become too small for them. Symbolic numbers stay symbolic for a fake; a real tensor decides them.
#pragma once

#include "core/c10/tensor/tensor_impl.h"

namespace slotcore::views {

using TensorPtr = intrusive_ptr<TensorImpl>;

TensorPtr alias(TensorImpl& tensor);
// Other sizes for the same elements in the same order. One size may be -1; it is computed. The
// strides must allow it.
TensorPtr view(TensorImpl& tensor, const Dims& sizes);
TensorPtr view(TensorImpl& tensor, const SymDims& sizes);
// The same bytes as numbers of `type`, which changes the size of the last dimension. As in torch
// the result is not a view, has no gradient, and shares the version counter.
TensorPtr view_as_type(TensorImpl& tensor, ScalarType type);
// Complex numbers as pairs in a new last dimension.
TensorPtr view_as_real(TensorImpl& tensor);
// `length` positions of a dimension from `start` on.
TensorPtr narrow(TensorImpl& tensor, int64_t dim, int64_t start, int64_t length);
TensorPtr narrow(TensorImpl& tensor, int64_t dim, const SymInt& start, const SymInt& length);
// Every `step`-th of them; the caller has checked `start` and `length`.
TensorPtr slice(TensorImpl& tensor, int64_t start, int64_t length, int64_t step);
// One position of a dimension; the result lacks that dimension.
TensorPtr select(TensorImpl& tensor, int64_t dim, int64_t index);
// Any layout that fits into the storage.
TensorPtr as_strided(TensorImpl& tensor, const Layout& layout);
TensorPtr transpose(TensorImpl& tensor, int64_t a, int64_t b);
// transpose(0, 1) of at most two dimensions.
TensorPtr t(TensorImpl& tensor);
// Repeats dimensions of size 1 and new leading ones; -1 keeps a size.
TensorPtr expand(TensorImpl& tensor, const Dims& sizes);
TensorPtr expand(TensorImpl& tensor, const SymDims& sizes);
// The conjugated numbers of a complex tensor.
TensorPtr conj(TensorImpl& tensor);
// The negated numbers.
TensorPtr neg_view(TensorImpl& tensor);

}  // namespace slotcore::views
