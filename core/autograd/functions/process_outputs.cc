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

  // The tensor that the caller gets for `output`.
  TensorPtr processed(TensorPtr output) {
    const auto& inputs = marks_.inputs;
    bool is_input = std::find(inputs.begin(), inputs.end(), output.get()) != inputs.end();
    bool is_written = is_input && marks_.dirty.contains(output.get());
    bool is_wanted = is_recorded_ && is_differentiable(output->type()) &&
                     !marks_.non_differentiable.contains(output.get());
    // A result that is an argument is another tensor, so that nothing here changes the argument.
    if (is_input && !is_written && (is_wanted || !output->requires_grad())) {
      output = view_of(*output);
    }
    if (!is_wanted) {
      output = without_history(std::move(output), is_input);
      node_->add_input(*output);
    } else if (is_written) {
      write(*output);
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
  void write(TensorImpl& input) {
    check_in_place(input);
    // CopySlices passes one gradient to the node, and takes over its first edge.
    if (input.base() && (count_ != 1 || marks_.inputs.front() != &input)) {
      throw std::runtime_error(
          "a Function that writes a view in place must take it as the first input and return only"
          " this tensor");
    }
    rebase_history(input, node_);
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
