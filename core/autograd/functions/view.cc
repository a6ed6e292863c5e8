// The node of all views: it maps the gradient of the view to that of its base.

#include "core/autograd/functions/view.h"

#include <algorithm>

#include "core/autograd/functions/arithmetic.h"
#include "core/autograd/grad_mode.h"
#include "core/c10/tensor/tensor_views.h"

namespace slotcore::autograd {
namespace {

using derivatives::Restriding;

// Whether no two indices can lead to one element: in the order of strides, each dimension steps
// over all that the smaller ones reach. May be false although no element repeats.
bool is_surely_without_repetition(const Layout& layout) {
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (size_t i = 0; i < layout.sizes.size(); i++) {
    if (layout.sizes[i] == 0) return true;
    if (layout.sizes[i] > 1) dims.emplace_back(layout.strides[i], layout.sizes[i]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0;
  for (auto [stride, size] : dims) {
    if (stride <= reach) return false;
    reach += stride * (size - 1);
  }
  return true;
}

int64_t end_of(const Layout& layout) {
  int64_t end = layout.offset + 1;
  for (size_t i = 0; i < layout.sizes.size(); i++) {
    if (layout.sizes[i] == 0) return 0;
    end += (layout.sizes[i] - 1) * layout.strides[i];
  }
  return end;
}

// Both layouts over a buffer that holds no more than the elements of either.
Restriding restriding_of(Layout from, Layout to) {
  int64_t start = std::min(from.offset, to.offset);
  from.offset -= start;
  to.offset -= start;
  int64_t length = std::max({end_of(from), end_of(to), int64_t{0}});
  bool shares = !is_surely_without_repetition(to);
  return {from, to, length, shares ? Restriding::Share::kTo : Restriding::Share::kNone};
}

// The layout of the same elements as pairs of floats.
Layout pairs_of(Layout layout) {
  for (size_t i = 0; i < layout.strides.size(); i++) layout.strides[i] *= 2;
  layout.offset *= 2;
  layout.sizes.push_back(2);
  layout.strides.push_back(1);
  return layout;
}

TensorPtr with_bits(TensorPtr tensor, ValueBits from, ValueBits to) {
  if (from.neg != to.neg) tensor = record_view(*tensor, "NegViewBackward0", &views::neg_view);
  if (from.conj != to.conj && is_complex(tensor->type()))
    tensor = record_view(*tensor, "ConjBackward0", &views::conj);
  return tensor;
}

class PairsBackward final : public Node {
 public:
  std::string name() const override { return "ViewAsComplexBackward0"; }
  Gradients apply(Gradients gradients) override {
    if (!gradients.at(0)) return {nullptr};
    // A copy reads the bits as numbers. A view that undid them would have other numbers.
    TensorPtr plain = gradients[0]->bits() == ValueBits{} ? gradients[0] : clone(*gradients[0]);
    return {record_view(*plain, "ViewAsRealBackward0", &views::view_as_real)};
  }
};

TensorPtr complex_of_pairs(TensorImpl& pairs) {
  return recorded(derivatives::complex_of_pairs(pairs), {&pairs},
                  [] { return make_intrusive<PairsBackward>(); });
}

class ViewBackward final : public Node {
 public:
  ViewBackward(const char* name, const ViewInfo& info) : name_(name), info_(info) {}

  std::string name() const override { return name_; }
  Gradients apply(Gradients gradients) override {
    if (!gradients.at(0) || !needs(0)) return {nullptr};
    const Geometry &base = info_.base, &view = info_.view;
    TensorPtr gradient = with_bits(gradients[0], view.bits, base.bits);
    if (view.type == base.type)
      return {restride(*gradient, restriding_of(view.layout, base.layout))};
    gradient = restride(*gradient, restriding_of(view.layout, pairs_of(base.layout)));
    // Pairs are those of the memory, whose numbers a conjugated base reads conjugated.
    return {with_bits(complex_of_pairs(*gradient), {.conj = base.bits.conj}, {})};
  }

 private:
  const char* name_;
  ViewInfo info_;
};

class AliasBackward final : public Node {
 public:
  std::string name() const override { return "AliasBackward0"; }
  Gradients apply(Gradients gradients) override { return {std::move(gradients.at(0))}; }
};

class RestrideBackward final : public Node {
 public:
  explicit RestrideBackward(const Restriding& map) : map_(map) {}

  std::string name() const override { return "RestrideBackward"; }
  Gradients apply(Gradients gradients) override {
    if (!gradients.at(0)) return {nullptr};
    return {restride(*gradients[0], map_.transposed())};
  }

 private:
  Restriding map_;
};

// Records a view of `tensor`. `make_node` returns its node.
template <class MakeNode>
TensorPtr finished(TensorPtr view, TensorImpl& tensor, MakeNode make_node) {
  if (!GradMode::is_enabled()) materialize_meta(*view).creation_meta = CreationMeta::kNoGradMode;
  if (const AutogradMeta* meta = tensor.base() ? meta_of(tensor) : nullptr;
      meta != nullptr && meta->creation_meta != CreationMeta::kDefault) {
    materialize_meta(*view).creation_meta = meta->creation_meta;
  }
  const TensorImpl& made = *view;
  return recorded(std::move(view), {&tensor}, [&] { return make_node(made); });
}

TensorPtr strided(TensorPtr view, TensorImpl& tensor) {
  return finished(std::move(view), tensor, [&](const TensorImpl& made) {
    return make_view_node("AsStridedBackward0", {geometry_of(tensor), geometry_of(made)});
  });
}

}  // namespace

Geometry geometry_of(const TensorImpl& tensor) {
  return {tensor.layout(), tensor.type(), tensor.bits()};
}

intrusive_ptr<Node> make_view_node(const char* name, const ViewInfo& info) {
  return make_intrusive<ViewBackward>(name, info);
}

TensorPtr record_view(TensorImpl& tensor, const char* name,
                      const std::function<TensorPtr(TensorImpl&)>& make) {
  return finished(make(tensor), tensor, [&](const TensorImpl& view) {
    if (is_surely_without_repetition(tensor.layout()))
      return make_view_node(name, {geometry_of(tensor), geometry_of(view)});
    auto apart = make_intrusive<TensorImpl>(tensor.sizes(), tensor.type(), tensor.place());
    apart->set_bits(tensor.bits());
    return make_view_node(name, {geometry_of(*apart), geometry_of(*make(*apart))});
  });
}

TensorPtr as_strided(TensorImpl& tensor, const Layout& layout) {
  return strided(views::as_strided(tensor, layout), tensor);
}

TensorPtr expand(TensorImpl& tensor, const Dims& sizes) {
  return record_view(tensor, "ExpandBackward0",
                     [&](TensorImpl& one) { return views::expand(one, sizes); });
}

TensorPtr alias(TensorImpl& tensor) {
  return finished(views::alias(tensor), tensor,
                  [](const TensorImpl&) { return make_intrusive<AliasBackward>(); });
}

TensorPtr replay_view(TensorImpl& base_like, const ViewInfo& info) {
  Layout layout = info.view.layout;
  bool is_pairs = info.view.type != info.base.type;
  int64_t unit = is_pairs ? 2 : 1;
  layout.offset += unit * (base_like.offset() - info.base.layout.offset);
  TensorPtr view = base_like.make_view(layout, info.view.type);
  ValueBits bits = base_like.bits();
  view->set_bits({bits.conj != (info.view.bits.conj != info.base.bits.conj),
                  bits.neg != (info.view.bits.neg != info.base.bits.neg)});
  return strided(std::move(view), base_like);
}

TensorPtr restride(TensorImpl& tensor, const Restriding& map) {
  return recorded(derivatives::restride(tensor, map), {&tensor},
                  [&] { return make_intrusive<RestrideBackward>(map); });
}

TensorPtr sum_to(TensorImpl& tensor, const Dims& sizes) {
  if (tensor.sizes() == sizes) return TensorPtr::retain(&tensor);
  Layout to = contiguous_layout(sizes);
  Layout from{tensor.sizes(), broadcast_strides(sizes, to.strides, tensor.sizes()), 0};
  return restride(tensor, {from, to, element_count(sizes)});
}

}  // namespace slotcore::autograd
