// The views of tensors, with the layouts of core/c10/shapes/view_layouts.h. No code here touches
// elements.

#include "core/c10/tensor/tensor_views.h"

#include <stdexcept>

#include "core/c10/shapes/view_layouts.h"
#include "core/c10/tensor/operation.h"

namespace slotcore::views {
namespace {

int64_t nbytes_like(const Layout&, const TensorImpl& tensor) {
  return static_cast<int64_t>(tensor.storage()->nbytes());
}
SymInt nbytes_like(const SymLayout&, const TensorImpl& tensor) {
  return tensor.storage()->sym_nbytes();
}

// As in torch, a view by strides is refused when the storage has shrunk below it.
template <class Int>
TensorPtr within_storage(TensorImpl& tensor, const BasicLayout<Int>& layout) {
  Int needed = bytes_needed(layout, tensor.type()), nbytes = nbytes_like(layout, tensor);
  if (needed > nbytes) {
    throw std::runtime_error("the size " + text(layout.sizes) + " with the strides " +
                             text(layout.strides) + " needs a storage of " + text(needed) +
                             " bytes and has " + text(nbytes));
  }
  return tensor.make_view(layout);
}

void check_has_dims(const TensorImpl& tensor) {
  if (tensor.dim() == 0) throw std::out_of_range("a tensor without dimensions has no index");
}

}  // namespace

TensorPtr alias(TensorImpl& tensor) {
  return tensor_operation(Op::kAlias, tensor, [&] {
    return with_layouts([&](const auto& layout) { return tensor.make_view(layout); }, tensor);
  });
}

TensorPtr view(TensorImpl& tensor, const Dims& sizes) {
  if (tensor.is_symbolic()) return view(tensor, symbolic(sizes));
  return tensor_operation(
      Op::kView, tensor, [&] { return tensor.make_view(viewed(tensor.layout(), sizes)); }, sizes);
}

TensorPtr view(TensorImpl& tensor, const SymDims& sizes) {
  if (!tensor.is_fake()) return view(tensor, specialized(sizes));
  return tensor_operation(
      Op::kView, tensor, [&] { return tensor.make_view(viewed(tensor.sym_layout(), sizes)); },
      sizes);
}

TensorPtr view_as_type(TensorImpl& tensor, ScalarType type) {
  if (tensor.bits() != ValueBits{})
    throw std::runtime_error("a conjugated or negated tensor cannot be read as another dtype");
  auto former = static_cast<int64_t>(item_size(tensor.type()));
  auto wanted = static_cast<int64_t>(item_size(type));
  auto read_as = [&](const auto& layout) {
    bool is_same = former == wanted;
    return tensor.detach_as(is_same ? layout : viewed_as(layout, former, wanted), type);
  };
  return operation(
      [&] {
        return OpCall{Op::kViewAsType, {TensorPtr::retain(&tensor)}, {}, type};
      },
      [&] { return with_layouts(read_as, tensor); });
}

TensorPtr view_as_real(TensorImpl& tensor) {
  if (!is_complex(tensor.type())) throw std::runtime_error("view_as_real takes a complex tensor");
  if (tensor.bits().conj)
    throw std::runtime_error("view_as_real takes no conjugated tensor; use resolve_conj()");
  auto as_pairs = [&](const auto& layout) {
    return tensor.make_view(pairs(layout), ScalarType::float32);
  };
  return tensor_operation(Op::kViewAsReal, tensor, [&] { return with_layouts(as_pairs, tensor); });
}

TensorPtr narrow(TensorImpl& tensor, int64_t dim, int64_t start, int64_t length) {
  if (tensor.is_symbolic()) return narrow(tensor, dim, SymInt(start), SymInt(length));
  return tensor_operation(
      Op::kNarrow, tensor,
      [&] { return within_storage(tensor, narrowed(tensor.layout(), dim, start, length)); }, dim,
      start, length);
}

TensorPtr narrow(TensorImpl& tensor, int64_t dim, const SymInt& start, const SymInt& length) {
  if (!tensor.is_fake()) return narrow(tensor, dim, start.specialize(), length.specialize());
  return tensor_operation(
      Op::kNarrow, tensor,
      [&] { return within_storage(tensor, narrowed(tensor.sym_layout(), dim, start, length)); },
      dim, start, length);
}

TensorPtr slice(TensorImpl& tensor, int64_t start, int64_t length, int64_t step) {
  check_has_dims(tensor);
  auto run = [&] {
    if (tensor.is_symbolic())
      return within_storage(tensor, sliced<SymInt>(tensor.sym_layout(), start, length, step));
    return within_storage(tensor, sliced(tensor.layout(), start, length, step));
  };
  return tensor_operation(Op::kSlice, tensor, run, start, length, step);
}

TensorPtr select(TensorImpl& tensor, int64_t dim, int64_t index) {
  check_has_dims(tensor);
  auto run = [&] {
    if (tensor.is_symbolic())
      return within_storage(tensor, selected<SymInt>(tensor.sym_layout(), dim, index));
    return within_storage(tensor, selected(tensor.layout(), dim, index));
  };
  return tensor_operation(Op::kSelect, tensor, run, dim, index);
}

TensorPtr as_strided(TensorImpl& tensor, const Layout& layout) {
  check_layout(layout, tensor.type());
  return tensor_operation(
      Op::kAsStrided, tensor, [&] { return within_storage(tensor, layout); }, layout.sizes,
      layout.strides, layout.offset);
}

TensorPtr transpose(TensorImpl& tensor, int64_t a, int64_t b) {
  auto run = [&] {
    if (checked_dim(a, tensor.dim()) == checked_dim(b, tensor.dim())) return alias(tensor);
    return with_layouts(
        [&](const auto& layout) { return within_storage(tensor, transposed(layout, a, b)); },
        tensor);
  };
  return tensor_operation(Op::kTranspose, tensor, run, a, b);
}

TensorPtr t(TensorImpl& tensor) {
  size_t rank = tensor.dim();
  if (rank > 2) {
    throw std::runtime_error("t() takes at most 2 dimensions, and there are " +
                             std::to_string(rank));
  }
  return tensor_operation(Op::kT, tensor, [&] { return transpose(tensor, 0, rank < 2 ? 0 : 1); });
}

TensorPtr expand(TensorImpl& tensor, const Dims& sizes) {
  if (tensor.is_symbolic()) return expand(tensor, symbolic(sizes));
  return tensor_operation(
      Op::kExpand, tensor, [&] { return within_storage(tensor, expanded(tensor.layout(), sizes)); },
      sizes);
}

TensorPtr expand(TensorImpl& tensor, const SymDims& sizes) {
  if (!tensor.is_fake()) return expand(tensor, specialized(sizes));
  return tensor_operation(
      Op::kExpand, tensor,
      [&] { return within_storage(tensor, expanded(tensor.sym_layout(), sizes)); }, sizes);
}

TensorPtr conj(TensorImpl& tensor) {
  return tensor_operation(Op::kConj, tensor, [&] {
    TensorPtr view = alias(tensor);
    view->set_bits({!tensor.bits().conj, tensor.bits().neg});
    return view;
  });
}

TensorPtr neg_view(TensorImpl& tensor) {
  return tensor_operation(Op::kNegView, tensor, [&] {
    TensorPtr view = alias(tensor);
    view->set_bits({tensor.bits().conj, !tensor.bits().neg});
    return view;
  });
}

}  // namespace slotcore::views
