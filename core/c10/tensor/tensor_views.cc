// The layouts of views. No code here touches elements.

#include "core/c10/tensor/tensor_views.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace slotcore::views {
namespace {

// Computes the size that is -1, if there is one; element_count() of the result is `numel`.
Dims infer_size(Dims sizes, int64_t numel) {
  const std::string wanted = text(sizes);
  int64_t known = 1;
  int64_t* inferred = nullptr;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] == -1 && inferred == nullptr) {
      inferred = &sizes[i];
    } else if (sizes[i] < 0) {
      throw std::runtime_error("only one size may be -1, and none less: " + wanted);
    } else {
      known = checked_multiply(known, sizes[i]);
    }
  }
  if (inferred != nullptr && known != 0) *inferred = numel / known;
  bool fits = inferred == nullptr ? known == numel : known != 0 && known * *inferred == numel;
  if (!fits) {
    throw std::runtime_error("the size " + wanted + " does not fit " + std::to_string(numel) +
                             " elements");
  }
  return sizes;
}

// The strides that give the elements of `layout` the shape `sizes`, in the same order; nullopt if
// no strides can. Regroups runs of dimensions whose elements follow each other.
std::optional<Dims> strides_for(const Layout& layout, const Dims& sizes) {
  if (element_count(sizes) == 0)
    return layout.sizes == sizes ? layout.strides : contiguous_strides(sizes);
  Dims strides = sizes;
  size_t next = sizes.size();  // the sizes from here on are done
  int64_t run = 1;             // elements in the run, whose last ones are `step` apart
  int64_t step = layout.sizes.size() == 0 ? 1 : layout.strides[layout.sizes.size() - 1];
  for (size_t i = layout.sizes.size(); i-- > 0;) {
    run *= layout.sizes[i];
    if (i > 0 &&
        (layout.sizes[i - 1] == 1 || layout.strides[i - 1] == checked_multiply(run, step))) {
      continue;
    }
    int64_t cut = 1;
    while (next > 0 && (cut < run || sizes[next - 1] == 1)) {
      next--;
      strides[next] = checked_multiply(cut, step);
      cut *= sizes[next];
    }
    if (cut != run) return std::nullopt;
    if (i > 0) {
      run = 1;
      step = layout.strides[i - 1];
    }
  }
  for (; next > 0; next--) strides[next - 1] = 1;  // only sizes of 1 are left
  return strides;
}

// As in torch, a view by strides is refused when the storage has shrunk below it.
TensorPtr within_storage(TensorImpl& tensor, const Layout& layout) {
  size_t needed = bytes_needed(layout.offset, layout.sizes, layout.strides, tensor.type());
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

TensorPtr view(TensorImpl& tensor, Dims sizes) {
  sizes = infer_size(sizes, tensor.numel());
  std::optional<Dims> strides = strides_for(tensor.layout(), sizes);
  if (!strides) {
    throw std::runtime_error("the strides " + text(tensor.strides()) + " of the size " +
                             text(tensor.sizes()) + " do not allow a view of " + text(sizes));
  }
  return tensor.make_view({sizes, *strides, tensor.offset()});
}

TensorPtr view_as_type(TensorImpl& tensor, ScalarType type) {
  if (tensor.bits() != ValueBits{})
    throw std::runtime_error("a conjugated or negated tensor cannot be read as another dtype");
  auto former = static_cast<int64_t>(item_size(tensor.type()));
  auto wanted = static_cast<int64_t>(item_size(type));
  Layout layout = tensor.layout();
  if (former == wanted) return tensor.detach_as(layout, type);
  size_t rank = layout.sizes.size();
  if (rank == 0) throw std::runtime_error("a tensor without dimensions has no place for more");
  if (layout.strides[rank - 1] != 1)
    throw std::runtime_error("numbers of another size need a last stride of 1");
  // In units of the new element size.
  auto rescale = [&](int64_t value) {
    if (former > wanted) return checked_multiply(value, former / wanted);
    if (value % (wanted / former) != 0) {
      throw std::runtime_error("numbers of another size do not fit the strides " +
                               text(layout.strides) + " of the size " + text(layout.sizes));
    }
    return value / (wanted / former);
  };
  layout.offset = rescale(layout.offset);
  layout.sizes[rank - 1] = rescale(layout.sizes[rank - 1]);
  for (size_t i = 0; i + 1 < rank; i++) layout.strides[i] = rescale(layout.strides[i]);
  return tensor.detach_as(layout, type);
}

TensorPtr view_as_real(TensorImpl& tensor) {
  if (!is_complex(tensor.type()))
    throw std::runtime_error("view_as_real takes a complex tensor");
  if (tensor.bits().conj)
    throw std::runtime_error("view_as_real takes no conjugated tensor; use resolve_conj()");
  Layout layout = tensor.layout();
  for (size_t i = 0; i < layout.strides.size(); i++)
    layout.strides[i] = checked_multiply(layout.strides[i], 2);
  layout.offset = checked_multiply(layout.offset, 2);
  layout.sizes.push_back(2);
  layout.strides.push_back(1);
  return tensor.make_view(layout, ScalarType::float32);
}

TensorPtr narrow(TensorImpl& tensor, int64_t dim, int64_t start, int64_t length) {
  if (tensor.sizes().size() == 0)
    throw std::runtime_error("a tensor without dimensions cannot be narrowed");
  size_t place = checked_dim(dim, tensor.sizes().size());
  int64_t size = tensor.sizes()[place];
  if (start < -size || start > size) {
    throw std::out_of_range("the start " + std::to_string(start) +
                            " is outside of a dimension of size " + std::to_string(size));
  }
  if (start < 0) start += size;
  if (length < 0 || length > size - start) {
    throw std::runtime_error("start " + std::to_string(start) + " and length " +
                             std::to_string(length) + " exceed a dimension of size " +
                             std::to_string(size));
  }
  Layout layout = tensor.layout();
  layout.sizes[place] = length;
  layout.offset = checked_add(layout.offset, checked_multiply(start, layout.strides[place]));
  return within_storage(tensor, layout);
}

TensorPtr slice(TensorImpl& tensor, int64_t start, int64_t length, int64_t step) {
  check_has_dims(tensor);
  Layout layout = tensor.layout();
  layout.sizes[0] = length;
  layout.offset = checked_add(layout.offset, checked_multiply(start, layout.strides[0]));
  layout.strides[0] = checked_multiply(layout.strides[0], step);
  return within_storage(tensor, layout);
}

TensorPtr select(TensorImpl& tensor, int64_t dim, int64_t index) {
  check_has_dims(tensor);
  size_t place = checked_dim(dim, tensor.sizes().size());
  int64_t size = tensor.sizes()[place];
  if (index < -size || index >= size) {
    throw std::out_of_range("index " + std::to_string(index) +
                            " is outside of a dimension of size " + std::to_string(size));
  }
  if (index < 0) index += size;
  Layout layout = tensor.layout();
  layout.offset = checked_add(layout.offset, checked_multiply(index, layout.strides[place]));
  layout.sizes.erase(place);
  layout.strides.erase(place);
  return within_storage(tensor, layout);
}

TensorPtr as_strided(TensorImpl& tensor, const Layout& layout) {
  check_layout(layout, tensor.type());
  return within_storage(tensor, layout);
}

TensorPtr transpose(TensorImpl& tensor, int64_t a, int64_t b) {
  Layout layout = tensor.layout();
  size_t first = checked_dim(a, layout.sizes.size());
  size_t second = checked_dim(b, layout.sizes.size());
  if (first == second) return alias(tensor);
  std::swap(layout.sizes[first], layout.sizes[second]);
  std::swap(layout.strides[first], layout.strides[second]);
  return within_storage(tensor, layout);
}

TensorPtr t(TensorImpl& tensor) {
  size_t rank = tensor.sizes().size();
  if (rank > 2) {
    throw std::runtime_error("t() takes at most 2 dimensions, and there are " +
                             std::to_string(rank));
  }
  return transpose(tensor, 0, rank < 2 ? 0 : 1);
}

TensorPtr expand(TensorImpl& tensor, Dims sizes) {
  const Layout& layout = tensor.layout();
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] != -1) continue;
    if (i + layout.sizes.size() < sizes.size())
      throw std::runtime_error("the size of a new dimension cannot be -1: " + text(sizes));
    // If `sizes` has fewer dimensions than the tensor, broadcast_strides() throws.
    size_t place = i + layout.sizes.size() - sizes.size();
    if (layout.sizes.size() <= sizes.size()) sizes[i] = layout.sizes[place];
  }
  element_count(sizes);
  return within_storage(
      tensor, {sizes, broadcast_strides(layout.sizes, layout.strides, sizes), layout.offset});
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
