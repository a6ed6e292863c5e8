// Saving and unpacking.

#include "core/autograd/saved/saved_variable.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "core/autograd/grad_mode.h"
#include "core/autograd/history.h"
#include "core/c10/live_counts.h"
#include "core/c10/trace.h"

namespace slotcore::autograd {

SavedVariable::SavedVariable(TensorImpl& tensor, bool is_output, bool is_in_place_on_view) {
  fields_.version = tensor.version().value();
  fields_.is_leaf = autograd::is_leaf(tensor);
  fields_.requires_grad = tensor.requires_grad();
  fields_.is_in_place_on_view = is_in_place_on_view;
  fields_.is_original = !is_output || fields_.is_leaf;
  if (fields_.is_original) {
    fields_.owned.data = TensorPtr::retain(&tensor);
  } else {
    fields_.owned.data = tensor.detach();
    fields_.output_nr = meta_of(tensor)->output_nr;
    if (is_in_place_on_view) fields_.weak_grad_fn = weak_intrusive_ptr<Node>(grad_fn(tensor));
  }
  pack(tensor);
  was_saved_ = true;
  live_saved_variables.add();
}

SavedVariable SavedVariable::of_overwritten(TensorImpl& tensor) {
  SavedVariable saved(tensor, /*is_output=*/false);
  if (!saved.is_packed()) saved.fields_.owned.data = tensor.detach();
  return saved;
}

SavedVariable::SavedVariable(const SavedVariable& other)
    : fields_(other.fields_), was_saved_(other.was_saved_) {
  if (was_saved_) live_saved_variables.add();
}

SavedVariable::SavedVariable(SavedVariable&& other) noexcept
    : fields_(std::move(other.fields_)), was_saved_(std::exchange(other.was_saved_, false)) {}

SavedVariable& SavedVariable::operator=(SavedVariable other) noexcept {
  std::swap(fields_, other.fields_);
  std::swap(was_saved_, other.was_saved_);
  return *this;
}

SavedVariable::~SavedVariable() {
  if (was_saved_) live_saved_variables.remove();
}

void SavedVariable::pack(TensorImpl& tensor) {
  auto hooks = SavedTensorHooks::innermost();
  if (!hooks) return;
  // The hook may drop what the caller has, and detach or write what it gets.
  auto keep = TensorPtr::retain(&tensor);
  AutoGradMode not_recording(false);
  Edge edge = fields_.is_original ? gradient_edge(tensor) : Edge();
  fields_.owned.packed = hooks->pack(fields_.owned.data);
  if (!fields_.owned.packed) return;
  if (fields_.owned.data->version().value() != fields_.version)
    throw std::runtime_error("a pack hook must not write the tensor that it gets");
  fields_.owned.data.reset();
  if (!fields_.is_original) return;
  // Nothing else may keep them: the tensor may be no input of the node.
  fields_.owned.history = std::move(edge.node);
  fields_.output_nr = edge.input_nr;
}

void SavedVariable::trace_owned(const void* owner) const noexcept {
  if (fields_.owned.data) {
    trace("reference taken", {"owner", owner}, {"owned", fields_.owned.data.get()},
          {"link", "saved tensor"});
  }
}

void SavedVariable::visit_owned(OwnedVisitor& visitor) const {
  const Owned& owned = fields_.owned;
  if (owned.data) visitor.tensor("saved tensor", owned.data.get());
  if (owned.packed) owned.packed->visit_owned(visitor);
  if (owned.history) visitor.node("grad_fn of what was packed", owned.history.get());
}

intrusive_ptr<Node> SavedVariable::grad_fn_of_saved(intrusive_ptr<Node> saved_for) const {
  if (fields_.is_original)
    return fields_.owned.data ? grad_fn(*fields_.owned.data) : fields_.owned.history;
  // Without the view, nothing leads to its grad_fn, and the node itself takes the gradient.
  intrusive_ptr<Node> node;
  if (fields_.is_in_place_on_view) node = fields_.weak_grad_fn.lock();
  return node ? std::move(node) : std::move(saved_for);
}

// No version is compared: the elements are those that the hook returns.
TensorPtr SavedVariable::unpack_by_hook(intrusive_ptr<Node> saved_for) const {
  intrusive_ptr<Node> node = grad_fn_of_saved(std::move(saved_for));
  TensorPtr data = fields_.owned.packed->unpack();
  if (!is_differentiable(data->type())) return data;
  // A view of what became a leaf later requires a gradient, and leads to no node.
  bool was_plain = !fields_.is_leaf || !fields_.requires_grad;
  if (!node && was_plain) return data->requires_grad() ? data->detach() : data;
  TensorPtr result = data->detach();
  AutogradMeta& meta = materialize_meta(*result);
  if (fields_.is_leaf) {
    if (node) meta.grad_accumulator = weak_intrusive_ptr<Node>(node);
  } else {
    meta.grad_fn = std::move(node);
    meta.output_nr = fields_.output_nr;
  }
  meta.flag.store(true, std::memory_order_relaxed);  // nobody else has the tensor
  return result;
}

TensorPtr SavedVariable::unpack(intrusive_ptr<Node> saved_for) const {
  if (!was_saved_) return nullptr;
  const TensorPtr& data = fields_.owned.data;
  if (!fields_.owned) {
    throw std::runtime_error(
        "trying to backward through the graph a second time, or to access saved tensors after they"
        " were freed; pass retain_graph=True to the first backward");
  }
  if (is_packed()) return unpack_by_hook(std::move(saved_for));
  if (uint32_t now = data->version().value(); now != fields_.version) {
    throw std::runtime_error("a tensor that is needed for the gradient, of the size " +
                             text(data->sizes()) + ", was modified in place: it is at version " +
                             std::to_string(now) + " and version " +
                             std::to_string(fields_.version) + " was saved");
  }
  intrusive_ptr<Node> node = grad_fn_of_saved(std::move(saved_for));
  if (!fields_.is_leaf && !node) {
    throw std::runtime_error(
        "a tensor that is needed for the gradient was detached in place after it was saved");
  }
  if (fields_.is_original) return data;
  TensorPtr result = data->detach();
  AutogradMeta& meta = materialize_meta(*result);
  meta.grad_fn = std::move(node);
  meta.output_nr = fields_.output_nr;
  meta.flag.store(true, std::memory_order_relaxed);  // nobody else has the tensor
  return result;
}

void trace_released(const void* owner) noexcept {
  trace("references released", {"owner", owner}, {"link", "saved tensor"});
}

}  // namespace slotcore::autograd
