// The views of tensors, with the layouts of core/c10/shapes/view_layouts.h. No code here touches
// elements.

#include "core/c10/tensor/tensor_views.h"

#include <stdexcept>

#include "core/c10/shapes/view_layouts.h"

namespace slotcore::views {
namespace {

// As in torch, a view by strides is refused when the storage has shrunk below it.
TensorPtr within_storage(TensorImpl& tensor, const Layout& layout) {
  size_t needed = bytes_needed(layout, tensor.type());
  if (needed > tensor.storage()->nbytes()) {
    throw std::runtime_error("the size " + text(layout.sizes) + " with the strides " +
                             text(layout.strides) + " needs a storage of " +
                             std::to_string(needed) + " bytes and has " +
                             std::to_string(tensor.storage()->nbytes()));
  }
  return tensor.make_view(layout);
}

void check_has_dims(const TensorImpl& tensor) {
  if (tensor.sizes().size() == 0)
    throw std::out_of_range("a tensor without dimensions has no index");
}

}  // namespace

TensorPtr alias(TensorImpl& tensor) { return tensor.make_view(tensor.layout()); }

TensorPtr view(TensorImpl& tensor, const Dims& sizes) {
  return tensor.make_view(viewed(tensor.layout(), sizes));
}

TensorPtr view_as_type(TensorImpl& tensor, ScalarType type) {
  if (tensor.bits() != ValueBits{})
    throw std::runtime_error("a conjugated or negated tensor cannot be read as another dtype");
  auto former = static_cast<int64_t>(item_size(tensor.type()));
  auto wanted = static_cast<int64_t>(item_size(type));
  if (former == wanted) return tensor.detach_as(tensor.layout(), type);
  return tensor.detach_as(viewed_as(tensor.layout(), former, wanted), type);
}

TensorPtr view_as_real(TensorImpl& tensor) {
  if (!is_complex(tensor.type())) throw std::runtime_error("view_as_real takes a complex tensor");
  if (tensor.bits().conj)
    throw std::runtime_error("view_as_real takes no conjugated tensor; use resolve_conj()");
  return tensor.make_view(pairs(tensor.layout()), ScalarType::float32);
}

TensorPtr narrow(TensorImpl& tensor, int64_t dim, int64_t start, int64_t length) {
  return within_storage(tensor, narrowed(tensor.layout(), dim, start, length));
}

TensorPtr slice(TensorImpl& tensor, int64_t start, int64_t length, int64_t step) {
  check_has_dims(tensor);
  return within_storage(tensor, sliced(tensor.layout(), start, length, step));
}

TensorPtr select(TensorImpl& tensor, int64_t dim, int64_t index) {
  check_has_dims(tensor);
  return within_storage(tensor, selected(tensor.layout(), dim, index));
}

TensorPtr as_strided(TensorImpl& tensor, const Layout& layout) {
  check_layout(layout, tensor.type());
  return within_storage(tensor, layout);
}

TensorPtr transpose(TensorImpl& tensor, int64_t a, int64_t b) {
  size_t rank = tensor.sizes().size();
  if (checked_dim(a, rank) == checked_dim(b, rank)) return alias(tensor);
  return within_storage(tensor, transposed(tensor.layout(), a, b));
}

TensorPtr t(TensorImpl& tensor) {
  size_t rank = tensor.sizes().size();
  if (rank > 2) {
    throw std::runtime_error("t() takes at most 2 dimensions, and there are " +
                             std::to_string(rank));
  }
  return transpose(tensor, 0, rank < 2 ? 0 : 1);
}

TensorPtr expand(TensorImpl& tensor, const Dims& sizes) {
  return within_storage(tensor, expanded(tensor.layout(), sizes));
}

TensorPtr conj(TensorImpl& tensor) {
  TensorPtr view = alias(tensor);
  view->set_bits({!tensor.bits().conj, tensor.bits().neg});
  return view;
}

TensorPtr neg_view(TensorImpl& tensor) {
  TensorPtr view = alias(tensor);
  view->set_bits({tensor.bits().conj, !tensor.bits().neg});
  return view;
}

}  // namespace slotcore::views
