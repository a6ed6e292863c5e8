// How a gradient becomes, or is added to, the `.grad` of a leaf.

#include "core/autograd/accumulate_grad.h"

#include <limits>

#include "core/autograd/autograd_meta.h"
#include "core/autograd/current_device.h"
#include "core/autograd/functions/arithmetic.h"
#include "core/autograd/grad_mode.h"
#include "core/autograd/history.h"
#include "core/c10/tensor/tensor_arithmetic.h"
#include "core/c10/trace.h"

namespace slotcore::autograd {
namespace {

// The gradient as a tensor that the leaf may own: it shares elements with no other tensor.
TensorPtr owned(TensorPtr gradient) {
  bool is_alone = gradient.use_count() == 1 && gradient->storage().use_count() == 1 &&
                  gradient->pyobj_slot()->pyobj_interpreter() == nullptr;
  if (is_alone && gradient->is_contiguous() && gradient->bits() == ValueBits{}) return gradient;
  return arithmetic::clone(*gradient);
}

// How a gradient is added to the former one.
struct Sums {
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
      if (GradMode::is_enabled()) return {clone(*gradient), nullptr};
      gradient = owned(std::move(gradient));
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
  if (!gradient || !leaf_->requires_grad()) return {};
  meta_of(*leaf_)->gradient.accumulate(mutex_, Sums{gradient});
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
