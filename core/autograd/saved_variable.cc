// Saving and unpacking.

#include "core/autograd/saved_variable.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "core/autograd/history.h"
#include "core/c10/live_counts.h"

namespace slotcore::autograd {

SavedVariable::SavedVariable(TensorImpl& tensor, bool is_output, bool is_in_place_on_view)
    : version_(tensor.version().value()),
      was_saved_(true),
      is_leaf_(autograd::is_leaf(tensor)),
      is_in_place_on_view_(is_in_place_on_view) {
  is_original_ = !is_output || is_leaf_;
  if (is_original_) {
    data_ = TensorPtr::retain(&tensor);
  } else {
    data_ = tensor.detach();
    output_nr_ = meta_of(tensor)->output_nr;
    if (is_in_place_on_view_) weak_grad_fn_ = weak_intrusive_ptr<Node>(grad_fn(tensor));
  }
  live_saved_variables.add();
}

SavedVariable::SavedVariable(const SavedVariable& other) noexcept
    : data_(other.data_),
      weak_grad_fn_(other.weak_grad_fn_),
      version_(other.version_),
      output_nr_(other.output_nr_),
      was_saved_(other.was_saved_),
      is_original_(other.is_original_),
      is_leaf_(other.is_leaf_),
      is_in_place_on_view_(other.is_in_place_on_view_) {
  if (was_saved_) live_saved_variables.add();
}

SavedVariable::SavedVariable(SavedVariable&& other) noexcept
    : data_(std::move(other.data_)),
      weak_grad_fn_(std::move(other.weak_grad_fn_)),
      version_(other.version_),
      output_nr_(other.output_nr_),
      was_saved_(std::exchange(other.was_saved_, false)),
      is_original_(other.is_original_),
      is_leaf_(other.is_leaf_),
      is_in_place_on_view_(other.is_in_place_on_view_) {}

SavedVariable& SavedVariable::operator=(SavedVariable other) noexcept {
  std::swap(data_, other.data_);
  std::swap(weak_grad_fn_, other.weak_grad_fn_);
  std::swap(version_, other.version_);
  std::swap(output_nr_, other.output_nr_);
  std::swap(was_saved_, other.was_saved_);
  std::swap(is_original_, other.is_original_);
  std::swap(is_leaf_, other.is_leaf_);
  std::swap(is_in_place_on_view_, other.is_in_place_on_view_);
  return *this;
}

SavedVariable::~SavedVariable() {
  if (was_saved_) live_saved_variables.remove();
}

TensorPtr SavedVariable::unpack(intrusive_ptr<Node> saved_for) const {
  if (!was_saved_) return nullptr;
  if (!data_) {
    throw std::runtime_error(
        "trying to backward through the graph a second time, or to access saved tensors after they"
        " were freed; pass retain_graph=True to the first backward");
  }
  intrusive_ptr<Node> node;
  if (is_original_) {
    node = grad_fn(*data_);
  } else {
    // Without the view, nothing leads to its grad_fn, and the node itself takes the gradient.
    if (is_in_place_on_view_) node = weak_grad_fn_.lock();
    if (!node) node = std::move(saved_for);
  }
  if (!is_leaf_ && !node) {
    throw std::runtime_error(
        "a tensor that is needed for the gradient was detached in place after it was saved");
  }
  if (uint32_t now = data_->version().value(); now != version_) {
    throw std::runtime_error("a tensor that is needed for the gradient, of the size " +
                             text(data_->sizes()) + ", was modified in place: it is at version " +
                             std::to_string(now) + " and version " + std::to_string(version_) +
                             " was saved");
  }
  if (is_original_) return data_;
  TensorPtr result = data_->detach();
  AutogradMeta& meta = materialize_meta(*result);
  meta.grad_fn = std::move(node);
  meta.output_nr = output_nr_;
  meta.flag.store(true, std::memory_order_relaxed);  // nobody else has the tensor
  return result;
}

}  // namespace slotcore::autograd
