// How a gradient becomes, or is added to, the `.grad` of a leaf.

#include "core/autograd/accumulate_grad.h"

#include <limits>
#include <stdexcept>

#include "core/autograd/autograd_meta.h"
#include "core/autograd/current_device.h"
#include "core/autograd/functions/arithmetic.h"
#include "core/autograd/functions/in_place.h"
#include "core/autograd/grad_mode.h"
#include "core/autograd/history.h"
#include "core/c10/tensor/tensor_arithmetic.h"
#include "core/c10/trace.h"

namespace slotcore::autograd {
namespace {

// Whether a leaf gives its own sizes and strides to its gradient.
bool has_layout_for_gradient(const TensorImpl& leaf) {
  return !leaf.is_symbolic() && is_dense(leaf.layout());
}

// Whether the gradient has the strides that `.grad` of the leaf is promised: those of a dense leaf,
// else contiguous ones. Sizes are not compared, since those of a fake may have been symbols.
bool has_layout_for(const TensorImpl& gradient, const TensorImpl& leaf) {
  if (!has_layout_for_gradient(leaf) || gradient.is_symbolic()) return gradient.is_contiguous();
  for (size_t i = 0; i < gradient.dim(); ++i) {
    if (gradient.sizes()[i] == 1 && gradient.strides()[i] != 0) continue;
    if (i >= leaf.dim() || gradient.strides()[i] != leaf.strides()[i]) return false;
  }
  return true;
}

// A new tensor without numbers yet, with the layout of a dense leaf.
TensorPtr empty_like(const TensorImpl& leaf, const TensorImpl& gradient) {
  auto result = make_intrusive<TensorImpl>(Dims{0}, gradient.type(), gradient.place());
  auto former = result->exchange_storage(result->storage(), {leaf.sizes(), leaf.strides(), 0});
  return result;
}

// The gradient as a tensor that the leaf may own: it shares elements with no other tensor. Throws
// runtime_error when the sizes do not fit.
TensorPtr owned(TensorPtr gradient, const TensorImpl& leaf) {
  bool is_alone = gradient.use_count() == 1 && gradient->storage().use_count() == 1 &&
                  gradient->pyobj_slot()->pyobj_interpreter() == nullptr;
  if (is_alone && has_layout_for(*gradient, leaf) && gradient->bits() == ValueBits{}) {
    // A hook may have turned recording on for the node that computed it.
    return gradient->requires_grad() ? gradient->detach() : gradient;
  }
  if (!has_layout_for_gradient(leaf) && gradient->is_symbolic()) {
    return arithmetic::clone(*gradient);
  }
  TensorPtr result =
      has_layout_for_gradient(leaf)
          ? empty_like(leaf, *gradient)
          : make_intrusive<TensorImpl>(gradient->sizes(), gradient->type(), gradient->place());
  arithmetic::copy(*result, Operand(*gradient));
  return result;
}

// The same when the copy is recorded.
TensorPtr recorded_copy(TensorImpl& gradient, const TensorImpl& leaf) {
  if (!has_layout_for_gradient(leaf)) {
    return gradient.is_symbolic()
               ? clone(gradient)
               : clone_with_strides(gradient, contiguous_strides(gradient.sizes()));
  }
  TensorPtr result = empty_like(leaf, gradient);
  copy_in_place(*result, Operand(gradient));
  return result;
}

// How a gradient is added to the former one of a leaf.
struct Sums {
  const TensorImpl& leaf;
  TensorPtr& gradient;

  // What a new gradient needs: without a former one, itself; else the node of the sum, or null if
  // the sum is not recorded.
  struct Prepared {
    TensorPtr first;
    intrusive_ptr<Node> node;
  };

  bool is_in_place() const { return !GradMode::is_enabled(); }
  void add(const TensorPtr& former) {
    arithmetic::compute_in_place(Op::kAddInPlace, *former, arithmetic::Operand(*gradient));
  }
  Prepared prepare(const TensorPtr& former) {
    if (!former) {
      if (GradMode::is_enabled()) return {recorded_copy(*gradient, leaf), nullptr};
      gradient = owned(std::move(gradient), leaf);
      return {gradient, nullptr};
    }
    if (!is_recorded({former.get(), gradient.get()})) return {};
    intrusive_ptr<Node> node = make_add_node();
    node->set_next_edges(edges_to({former.get(), gradient.get()}));
    return {nullptr, std::move(node)};
  }
  TensorPtr sum(const TensorPtr& former, const Prepared& prepared) {
    if (!former) return prepared.first;
    TensorPtr result = arithmetic::compute(Op::kAdd, Operand(*former), Operand(*gradient));
    if (prepared.node) set_history(*result, prepared.node);
    return result;
  }
};

}  // namespace

// It runs on the thread that calls backward: leaves have no device, and the device that was current
// when a leaf was used first is no reason to add to its `.grad` there.
AccumulateGrad::AccumulateGrad(TensorPtr leaf)
    : Node(std::numeric_limits<uint64_t>::max(), kNoDevice), leaf_(std::move(leaf)) {
  add_input(*leaf_);
  trace("impl created", {"impl", this}, {"type", "AccumulateGrad"});
  trace("reference taken", {"owner", this}, {"owned", leaf_.get()}, {"link", ".variable"});
}

NodeHooks AccumulateGrad::hooks() const {
  NodeHooks result = Node::hooks();
  const AutogradMeta* meta = meta_of(*leaf_);
  if (meta == nullptr) return result;
  std::lock_guard lock(meta->mutex);
  for (const auto& hook : meta->leaf_hooks) result.of_tensors.emplace_back(0, hook);
  return result;
}

Gradients AccumulateGrad::apply(Gradients gradients) {
  TensorPtr gradient = std::move(gradients.at(0));
  if (!gradient) return {};
  if (grad_fn(*leaf_)) {
    throw std::runtime_error("a leaf of this graph was detached and written since, and is no leaf");
  }
  if (!leaf_->requires_grad()) return {};
  if (!inputs()[0].is_of(*leaf_)) {
    throw std::runtime_error("a leaf of this graph has other sizes or another dtype since");
  }
  meta_of(*leaf_)->gradient.accumulate(mutex_, Sums{*leaf_, gradient});
  return {};
}

void AccumulateGrad::visit_owned(OwnedVisitor& visitor) const {
  Node::visit_owned(visitor);
  if (leaf_) visitor.tensor(".variable", leaf_.get());
}

void AccumulateGrad::release_resources() noexcept {
  Node::release_resources();
  leaf_.reset();
}

}  // namespace slotcore::autograd
