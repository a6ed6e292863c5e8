// Views that are recorded, and the derivatives of views. Each view is a linear map of elements, so
// one pair of functions serves all of them, to any order of derivatives.
#pragma once

#include <functional>
#include <string>

#include "core/autograd/functions/record.h"
#include "core/c10/tensor/tensor_derivatives.h"

namespace slotcore::autograd {

// How a tensor reads its storage.
struct Geometry {
  Layout layout;
  ScalarType type = ScalarType::float32;
  ValueBits bits;
};

Geometry geometry_of(const TensorImpl& tensor);

struct ViewInfo {
  Geometry base;
  Geometry view;
};

// A node for a view with torch's name of its class.
intrusive_ptr<Node> make_view_node(const char* name, const ViewInfo& info);

// The view that `make` makes of `tensor`. `make` is also called for another tensor of the same
// sizes if `tensor` repeats elements: then the gradient belongs to indices and not to memory.
TensorPtr record_view(TensorImpl& tensor, const char* name,
                      const std::function<TensorPtr(TensorImpl&)>& make);
// as_strided(): the gradient belongs to memory. Elements that `tensor` repeats share it.
TensorPtr as_strided(TensorImpl& tensor, const Layout& layout);
TensorPtr expand(TensorImpl& tensor, const Dims& sizes);
// A view of all elements. Its node hands on the gradient that it gets, and not a copy of it.
TensorPtr alias(TensorImpl& tensor);

// A view of `base_like`, which has the layout of the base from its own offset on, with the geometry
// of the view. For a view as pairs, `base_like` must be conjugated if the base is.
TensorPtr replay_view(TensorImpl& base_like, const ViewInfo& info);
// Reads the elements in another order; see derivatives::restride().
TensorPtr restride(TensorImpl& tensor, const derivatives::Restriding& map);
// The sum over dimensions that `sizes` repeats. Throws runtime_error if `sizes` does not expand to
// the sizes of `tensor`.
TensorPtr sum_to(TensorImpl& tensor, const Dims& sizes);

}  // namespace slotcore::autograd
