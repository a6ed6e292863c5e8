// History of the results of a custom Function.

#include "core/autograd/functions/process_outputs.h"

#include <algorithm>
#include <stdexcept>

#include "core/autograd/functions/view.h"
#include "core/autograd/grad_mode.h"

namespace slotcore::autograd {
namespace {

class Results {
 public:
  Results(const intrusive_ptr<Node>& node, const ForwardMarks& marks, size_t count)
      : node_(node), marks_(marks), count_(count), is_recorded_(!node->next_edges().empty()) {}

  // Throws runtime_error if the write of an argument cannot be recorded.
  void check(TensorImpl& output) const {
    if (!is_wanted(output) || !is_input(output) || !marks_.dirty.contains(&output)) return;
    check_in_place(output);
    // CopySlices passes one gradient to the node, and takes over its first edge.
    if (output.base() && (count_ != 1 || marks_.inputs.front() != &output)) {
      throw std::runtime_error(
          "a Function that writes a view in place must take it as the first input and return only"
          " this tensor");
    }
  }

  // The tensor that the caller gets for `output`.
  TensorPtr processed(TensorPtr output) {
    bool is_input = this->is_input(*output);
    bool is_written = is_input && marks_.dirty.contains(output.get());
    bool is_wanted = this->is_wanted(*output);
    // A result that is an argument is another tensor, so that nothing here changes the argument.
    if (is_input && !is_written && (is_wanted || !output->requires_grad())) {
      output = view_of(*output);
    }
    if (!is_wanted) {
      output = without_history(std::move(output), is_input);
      node_->add_input(*output);
    } else if (is_written) {
      rebase_history(*output, node_);
    } else {
      set_history(*output, node_);
    }
    if (is_wanted) differentiable_++;
    if (output->base() && !is_written) views_.push_back(output);
    return output;
  }

  // Forbids writes in place to results that are views.
  void mark_views() {
    auto how =
        differentiable_ > 1 ? CreationMeta::kMultiOutputNode : CreationMeta::kInCustomFunction;
    for (const TensorPtr& view : views_) materialize_meta(*view).creation_meta = how;
  }

 private:
  bool is_input(const TensorImpl& output) const {
    const auto& inputs = marks_.inputs;
    return std::find(inputs.begin(), inputs.end(), &output) != inputs.end();
  }
  bool is_wanted(const TensorImpl& output) const {
    return is_recorded_ && is_differentiable(output.type()) &&
           !marks_.non_differentiable.contains(&output);
  }

  static TensorPtr without_history(TensorPtr output, bool is_input) {
    if (!output->requires_grad()) return output;
    if (is_input) return output->detach();
    if (!output->base()) detach_in_place(*output);
    return output;
  }

  static TensorPtr view_of(TensorImpl& input) {
    AutoGradMode not_recording(false);
    return alias(input);
  }

  const intrusive_ptr<Node>& node_;
  const ForwardMarks& marks_;
  size_t count_;
  bool is_recorded_;
  size_t differentiable_ = 0;
  std::vector<TensorPtr> views_;
};

}  // namespace

void process_outputs(const intrusive_ptr<Node>& node, const ForwardMarks& marks,
                     std::vector<TensorPtr>& outputs) {
  for (const TensorImpl* dirty : marks.dirty) {
    bool is_returned = false;
    for (const TensorPtr& output : outputs) is_returned = is_returned || output.get() == dirty;
    if (!is_returned) {
      throw std::runtime_error(
          "a tensor that was marked as dirty in forward must be among its results");
    }
  }
  Results results(node, marks, outputs.size());
  // All checks come before the first change: an error leaves the arguments as they are.
  for (const TensorPtr& output : outputs) {
    if (output) results.check(*output);
  }
  for (TensorPtr& output : outputs) {
    if (output) {
      output = results.processed(std::move(output));
    } else {
      node->add_placeholder();
    }
  }
  results.mark_views();
}

}  // namespace slotcore::autograd
