// The gradient of a base whose view was written.

#include "core/autograd/copy_slices.h"

#include <stdexcept>

#include "core/autograd/engine/validate.h"
#include "core/autograd/functions/arithmetic.h"
#include "core/autograd/functions/in_place.h"
#include "core/autograd/history.h"
#include "core/c10/tensor/tensor_views.h"

namespace slotcore::autograd {
namespace {

// A copy of the gradient with the layout of the base, and conjugated as the base is where the view
// is one as pairs, which are those of the memory.
TensorPtr copy_for(const ViewInfo& info, TensorImpl& gradient) {
  const Dims& strides = info.base.layout.strides;
  if (!info.base.bits.conj || info.view.type == info.base.type)
    return clone_with_strides(gradient, strides);
  auto conj = [](TensorImpl& one) { return record_view(one, "ConjBackward0", &views::conj); };
  return conj(*clone_with_strides(*conj(gradient), strides));
}

}  // namespace

CopySlices::CopySlices(TensorImpl& base, TensorImpl& view, intrusive_ptr<Node> written)
    : info_{geometry_of(base), geometry_of(view)}, written_(std::move(written)) {
  std::vector<Edge> edges(written_->next_edges().begin(), written_->next_edges().end());
  edges.at(0) = gradient_edge(base);
  set_next_edges(std::move(edges));
}

// The gradient of the base's other elements passes unchanged; that of the view's elements passes
// through `written`.
Gradients CopySlices::apply(Gradients gradients) {
  Gradients results(next_edges().size());
  if (!gradients.at(0)) return results;
  intrusive_ptr<Node> written;
  {
    std::lock_guard lock(mutex_);
    written = written_;
  }
  if (!written) {
    throw std::runtime_error(
        "trying to backward through the graph a second time; pass retain_graph=True to the first"
        " backward");
  }
  TensorPtr whole = copy_for(info_, *gradients[0]);
  TensorPtr part = replay_view(*whole, info_);
  Gradients inner = written->apply({clone(*part)});
  // The engine checks the gradient of the base only, and a copy would repeat elements.
  if (needs(0) && inner.at(0)) inner[0] = validated(written->inputs()[0], std::move(inner[0]));
  for (size_t i = 0; i < inner.size() && i < results.size(); i++) {
    if (!needs(i)) continue;
    if (i > 0) {
      results[i] = std::move(inner[i]);
      continue;
    }
    // The edge of the view may need nothing, where only the source requires a gradient. And of all
    // writes to elements that share memory only a fill is accepted: what it overwrote has no
    // gradient.
    if (inner[0] && !may_overlap(info_.view.layout)) {
      copy_in_place(*part, arithmetic::Operand(*inner[0]));
    } else {
      fill_in_place(*part, false);
    }
    results[0] = whole;
  }
  return results;
}

bool CopySlices::release_variables() noexcept {
  intrusive_ptr<Node> former;  // dropped after the lock
  std::lock_guard lock(mutex_);
  std::swap(written_, former);
  return static_cast<bool>(former);
}

void CopySlices::visit_owned(OwnedVisitor& visitor) const {
  Node::visit_owned(visitor);
  if (written_) visitor.node("written", written_.get());
}

void CopySlices::release_resources() noexcept {
  Node::release_resources();
  written_.reset();
}

void CopySlices::release_objects() noexcept {
  Node::release_objects();
  if (written_) written_->release_objects();
}

}  // namespace slotcore::autograd
