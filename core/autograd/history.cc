// Lookup of nodes, and what operations write there.

#include "core/autograd/history.h"

#include <stdexcept>
#include <utility>

#include "core/autograd/accumulate_grad.h"
#include "core/autograd/copy_slices.h"
#include "core/autograd/functions/view.h"
#include "core/autograd/grad_mode.h"
#include "core/c10/check.h"
#include "core/c10/impl/operation_tracer_tls.h"
#include "core/c10/impl/protocol/lock_or_create.h"
#include "core/c10/trace.h"

namespace slotcore::autograd {
namespace {

// The wish to keep the gradient stays with a tensor whose node changes.
void move_retaining_hook(const intrusive_ptr<Node>& from, uint32_t from_nr,
                         const intrusive_ptr<Node>& to, uint32_t to_nr) {
  if (!from) return;
  if (auto hook = from->take_retaining_hook(from_nr))
    to->set_retaining_hook(to_nr, std::move(hook));
}

bool is_written_since(const TensorImpl& view) noexcept {
  return view.view_version() != view.version().value();
}

// Whether the tensor is a view whose place in the graph is that of elements which were written
// since. A view without a node may get one when its base has got a history.
bool is_stale(const TensorImpl& tensor) {
  if (!tensor.base() || !is_written_since(tensor)) return false;
  return tensor.base()->requires_grad() || former_grad_fn(tensor);
}

void trace_grad_fn(const TensorImpl& owner, const Node* former, const Node* node) noexcept {
  if (former != nullptr) trace("references released", {"owner", &owner}, {"link", ".grad_fn"});
  trace("reference taken", {"owner", &owner}, {"owned", node}, {"link", ".grad_fn"});
}

// The grad_fn of a view whose base was written since: a node that leads to the base. Throws
// runtime_error for the result of a custom Function: a node for it would not run its backward.
intrusive_ptr<Node> renewed_grad_fn(TensorImpl& view) {
  if (const AutogradMeta* meta = meta_of(view);
      meta != nullptr && (meta->creation_meta == CreationMeta::kInCustomFunction ||
                          meta->creation_meta == CreationMeta::kMultiOutputNode)) {
    throw std::runtime_error(
        "a view that a custom Function returned was written through its base or another view");
  }
  auto node = make_view_node("AsStridedBackward0", {geometry_of(*view.base()), geometry_of(view)});
  node->set_next_edges({gradient_edge(*view.base())});
  node->add_input(view);
  AutogradMeta& meta = materialize_meta(view);
  intrusive_ptr<Node> former = node, result;
  uint32_t former_nr = 0;
  {
    std::lock_guard lock(meta.mutex);
    if (is_written_since(view)) {
      std::swap(meta.grad_fn, former);
      former_nr = std::exchange(meta.output_nr, 0);
      view.set_view_version(view.version().value());
      meta.flag.store(true, std::memory_order_relaxed);
    }
    result = meta.grad_fn;
  }
  if (former != node) {
    trace_grad_fn(view, former.get(), node.get());
    move_retaining_hook(former, former_nr, node, 0);
  }
  return result;
}

// Of a tensor that was made from a description, which has no history.
class UnknownHistory final : public Node {
 public:
  std::string name() const override { return "UnknownHistory"; }
  Gradients apply(Gradients) override { return {}; }
};

void throw_if_not_writable(const TensorImpl& view) {
  const AutogradMeta* meta = meta_of(view);
  switch (meta == nullptr ? CreationMeta::kDefault : meta->creation_meta) {
    case CreationMeta::kDefault: return;
    case CreationMeta::kNoGradMode:
      throw std::runtime_error(
          "a view that was made in no_grad mode is being written in place while gradients are"
          " recorded");
    case CreationMeta::kInCustomFunction:
      throw std::runtime_error(
          "a view that was made in a custom Function is being written in place");
    case CreationMeta::kMultiOutputNode:
      throw std::runtime_error(
          "a view that is one of several results of an operation is being written in place");
  }
}

}  // namespace

intrusive_ptr<Node> former_grad_fn(const TensorImpl& tensor) {
  AutogradMeta* meta = meta_of(tensor);
  if (meta == nullptr) return nullptr;
  std::lock_guard lock(meta->mutex);
  // Under refcount-bit this count does not go from 1 to 2 if the node has a wrapper: that owns it
  // too.
  return meta->grad_fn;
}

intrusive_ptr<Node> grad_fn(TensorImpl& tensor) {
  return is_stale(tensor) ? renewed_grad_fn(tensor) : former_grad_fn(tensor);
}

uint32_t output_nr(const TensorImpl& tensor) {
  const AutogradMeta* meta = meta_of(tensor);
  if (meta == nullptr) return 0;
  std::lock_guard lock(meta->mutex);
  return meta->output_nr;
}

bool is_leaf(TensorImpl& tensor) { return !grad_fn(tensor); }

bool is_leaf_unchanged(const TensorImpl& tensor) {
  return !is_stale(tensor) && !former_grad_fn(tensor);
}

void set_flags(TensorImpl& tensor, bool requires_grad, bool is_leaf, CreationMeta creation) {
  bool is_plain = !requires_grad && is_leaf && creation == CreationMeta::kDefault;
  if (is_plain) return;
  AutogradMeta& meta = materialize_meta(tensor);
  if (!is_leaf) set_history(tensor, make_intrusive<UnknownHistory>());
  meta.flag.store(requires_grad, std::memory_order_relaxed);
  meta.creation_meta = creation;
}

intrusive_ptr<Node> existing_accumulator(const TensorImpl& leaf) {
  const AutogradMeta* meta = meta_of(leaf);
  if (meta == nullptr || !meta->requires_grad() || !is_leaf_unchanged(leaf)) return nullptr;
  std::lock_guard lock(meta->mutex);
  return meta->grad_accumulator.lock();
}

intrusive_ptr<Node> grad_accumulator(TensorImpl& leaf) {
  AutogradMeta* meta = meta_of(leaf);
  if (meta == nullptr || !meta->requires_grad()) return nullptr;
  // `.data = other` and set_() may have changed the sizes since graphs got the node that they keep.
  return impl::protocol::lock_or_create<impl::protocol::StdPolicy>(
      meta->mutex, meta->grad_accumulator,
      [&leaf]() -> intrusive_ptr<Node> {
        return make_intrusive<AccumulateGrad>(TensorPtr::retain(&leaf));
      },
      [&leaf](const intrusive_ptr<Node>& known) { return known->inputs()[0].is_of(leaf); });
}

Edge gradient_edge(TensorImpl& tensor) {
  if (auto node = grad_fn(tensor)) return {std::move(node), meta_of(tensor)->output_nr};
  return {grad_accumulator(tensor), 0};
}

bool takes_gradient(TensorImpl& tensor) {
  if (grad_fn(tensor)) return true;
  const AutogradMeta* meta = meta_of(tensor);
  return meta != nullptr && meta->requires_grad();
}

void set_requires_grad(TensorImpl& leaf, bool requires_grad) {
  impl::check_untraced("requires_grad");
  if (requires_grad && !is_differentiable(leaf.type())) {
    throw std::runtime_error(
        "only tensors of floating point and complex dtype can require gradients");
  }
  if (!requires_grad && meta_of(leaf) == nullptr) return;
  materialize_meta(leaf).flag.store(requires_grad, std::memory_order_relaxed);
}

TensorPtr exchange_grad(TensorImpl& tensor, TensorPtr grad) {
  impl::check_untraced("a gradient of a tensor");
  if (!grad && meta_of(tensor) == nullptr) return nullptr;
  if (grad) {
    if (grad.get() == &tensor) throw std::runtime_error("a tensor cannot be its own grad");
    if (grad->type() != tensor.type())
      throw std::runtime_error("the grad has another dtype than the tensor");
    if (grad->place() != tensor.place())
      throw std::runtime_error("the grad is at another place than the tensor");
    if (grad->sizes() != tensor.sizes()) {
      throw std::runtime_error("the grad has the size " + text(grad->sizes()) +
                               " and the tensor has " + text(tensor.sizes()));
    }
  }
  return materialize_meta(tensor).gradient.exchange(std::move(grad));
}

void detach_in_place(TensorImpl& tensor) {
  impl::check_untraced("detach_()");
  if (tensor.base()) throw std::runtime_error("a view cannot be detached in place");
  AutogradMeta* meta = meta_of(tensor);
  if (meta == nullptr) return;
  intrusive_ptr<Node> former;  // dropped after the lock
  std::lock_guard lock(meta->mutex);
  std::swap(meta->grad_fn, former);
  trace("references released", {"owner", &tensor}, {"link", ".grad_fn"});
  meta->output_nr = 0;
  meta->flag.store(false, std::memory_order_relaxed);
}

void set_history(TensorImpl& output, intrusive_ptr<Node> node) {
  AutogradMeta& meta = materialize_meta(output);
  uint32_t output_nr = node->add_input(output), former_nr;
  intrusive_ptr<Node> former = node;
  {
    std::lock_guard lock(meta.mutex);
    former_nr = std::exchange(meta.output_nr, output_nr);
    std::swap(meta.grad_fn, former);
    // The forward of a Function may have written the elements of a view that it returns.
    if (output.base()) output.set_view_version(output.version().value());
  }
  trace_grad_fn(output, former.get(), node.get());
  meta.flag.store(true, std::memory_order_relaxed);
  move_retaining_hook(former, former_nr, node, output_nr);
}

void check_rebase(const TensorImpl& self) {
  if (self.base()) throw_if_not_writable(self);
}

void rebase_history(TensorImpl& self, intrusive_ptr<Node> node) {
  if (!self.base()) return set_history(self, std::move(node));
  throw_if_not_writable(self);
  TensorImpl& base = *self.base();
  // A node that was made for the view after the write, as a look at its grad_fn does in the forward
  // of a Function, leads to what the base was.
  self.set_view_version(self.version().value() - 1);
  node->add_input(self);
  set_history(base, make_intrusive<CopySlices>(base, self, std::move(node)));
  // From now on the view leads to the base.
  (void)grad_fn(self);
}

void check_in_place(TensorImpl& self) {
  if (!GradMode::is_enabled() || !self.requires_grad()) return;
  if (self.base()) {
    throw_if_not_writable(self);
    if (is_leaf(*self.base())) {
      throw std::runtime_error(
          "a view of a leaf that requires grad is being used in an in-place operation");
    }
  }
  if (is_leaf(self))
    throw std::runtime_error("a leaf that requires grad is being used in an in-place operation");
}

}  // namespace slotcore::autograd
