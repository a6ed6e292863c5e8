// The views that torch has: new tensors over the elements of another one. Each function gives a
// view by TensorImpl::make_view(), and throws runtime_error where sizes do not fit, out_of_range
// for a dimension or an index that is not there. A dimension may count from the end. What cuts or
// orders elements anew throws runtime_error also where the storage has become too small for them.
#pragma once

#include "core/c10/tensor/tensor_impl.h"

namespace slotcore::views {

using TensorPtr = intrusive_ptr<TensorImpl>;

TensorPtr alias(TensorImpl& tensor);
// Other sizes for the same elements in the same order; one size may be -1, and is computed. The
// strides must allow it.
TensorPtr view(TensorImpl& tensor, Dims sizes);
// The same bytes as numbers of `type`, of which more or fewer fit into the last dimension. As in
// torch it is no view, has no gradient, and shares the version.
TensorPtr view_as_type(TensorImpl& tensor, ScalarType type);
// Complex numbers as pairs in a new last dimension.
TensorPtr view_as_real(TensorImpl& tensor);
// `length` places of a dimension from `start` on.
TensorPtr narrow(TensorImpl& tensor, int64_t dim, int64_t start, int64_t length);
// Every `step`-th of them; the caller has bounded `start` and `length`.
TensorPtr slice(TensorImpl& tensor, int64_t start, int64_t length, int64_t step);
// One place of a dimension, which is gone then.
TensorPtr select(TensorImpl& tensor, int64_t dim, int64_t index);
// Any layout that fits into the storage.
TensorPtr as_strided(TensorImpl& tensor, const Layout& layout);
TensorPtr transpose(TensorImpl& tensor, int64_t a, int64_t b);
// transpose(0, 1) of at most two dimensions.
TensorPtr t(TensorImpl& tensor);
// Repeats dimensions of size 1 and new ones before the first; -1 keeps a size.
TensorPtr expand(TensorImpl& tensor, Dims sizes);
// The numbers conjugated, of a complex tensor.
TensorPtr conj(TensorImpl& tensor);
// The numbers negated.
TensorPtr neg_view(TensorImpl& tensor);

}  // namespace slotcore::views
