// One call of a custom Function. The order matters: variables are saved after the results have
// their history, because only then a result is known to be one, and must not be owned (A1).

#include <algorithm>

#include "core/autograd/functions/process_outputs.h"
#include "core/autograd/grad_mode.h"
#include "core/python/function/function.h"
#include "core/python/function/py_node.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

using autograd::SavedVariable, autograd::TensorPtr;

// Tensors among Python objects; null for each other object.
std::vector<TensorPtr> tensors_among(ModuleState* state, PyObject* tuple) {
  std::vector<TensorPtr> tensors;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++)
    tensors.push_back(TensorPtr::retain(as_tensor(state, PyTuple_GET_ITEM(tuple, i))));
  return tensors;
}

std::vector<bool> are_tensors(const std::vector<TensorPtr>& tensors) {
  std::vector<bool> result;
  for (const TensorPtr& tensor : tensors) result.push_back(static_cast<bool>(tensor));
  return result;
}

// What forward left under `name`: null for nothing, or a tuple. Throws PythonErrorSet.
PyRef tuple_left(PyObject* object, const char* name) {
  if (object == nullptr || object == Py_None) return {};
  if (!PyTuple_Check(object)) {
    throw_python(PyExc_TypeError, "%s must be a tuple, not %s", name, Py_TYPE(object)->tp_name);
  }
  return PyRef::borrow(object);
}

std::unordered_set<const TensorImpl*> marked(ModuleState* state, PyObject* object,
                                             const char* name) {
  std::unordered_set<const TensorImpl*> result;
  PyRef tuple = tuple_left(object, name);
  for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(tuple.get()); i++)
    result.insert(&checked_tensor(state, PyTuple_GET_ITEM(tuple.get(), i), name));
  return result;
}

class Call {
 public:
  Call(ModuleState* state, FunctionContext* context, PyObject* args)
      : state_(state), context_(context), inputs_(tensors_among(state, args)) {}

  PyRef run(PyObject* args, const std::function<PyRef(PyObject*)>& forward) {
    begin();
    try {
      return finished(called_forward(args, forward));
    } catch (...) {
      restore();
      throw;
    }
  }

 private:
  // What an earlier call of a legacy Function has left in its ctx.
  struct Former {
    PyRef needs_input_grad;
    bool requires_grad = false, is_released = false;
    std::vector<SavedVariable> saved;
    weak_intrusive_ptr<autograd::Node> node{intrusive_ptr<autograd::Node>()};
  };

  static PyRef called_forward(PyObject* args, const std::function<PyRef(PyObject*)>& forward) {
    autograd::AutoGradMode not_recording(false);
    return forward(args);
  }

  // What the caller gets for what forward `returned`.
  PyRef finished(PyRef returned) {
    bool is_tuple = PyTuple_Check(returned.get());
    PyRef results =
        is_tuple ? std::move(returned) : PyRef::steal(checked(PyTuple_Pack(1, returned.get())));
    outputs_ = tensors_among(state_, results.get());
    node_->set_results(are_tensors(outputs_));
    try {
      // Before the first change: an error leaves no history on an argument.
      if (context_->requires_grad) check_saved();
      process();
      if (context_->requires_grad) save();
    } catch (...) {
      // Its results may lead to the node by now, and the node to the context.
      forget_marks();
      throw;
    }
    forget_marks();
    results = wrapped(results.get());
    return is_tuple ? std::move(results) : PyRef::borrow(PyTuple_GET_ITEM(results.get(), 0));
  }

  void begin() {
    bool is_any = false;
    auto count = static_cast<Py_ssize_t>(inputs_.size());
    PyRef needs = PyRef::steal(checked(PyTuple_New(count)));
    for (Py_ssize_t i = 0; i < count; i++) {
      const TensorPtr& input = inputs_[static_cast<size_t>(i)];
      bool is_needed = input && input->requires_grad();
      is_any = is_any || is_needed;
      PyTuple_SET_ITEM(needs.get(), i, PyBool_FromLong(is_needed));
    }
    bool is_recorded = is_any && autograd::GradMode::is_enabled();
    node_ = make_intrusive<PyNode>(context_);
    node_->set_arguments(are_tensors(inputs_));
    if (is_recorded) {
      std::vector<autograd::Edge> edges;
      for (const TensorPtr& input : inputs_) {
        if (input) edges.push_back(autograd::gradient_edge(*input));
      }
      node_->set_next_edges(std::move(edges));
    }
    ContextParts& parts = *context_->parts;
    former_.needs_input_grad =
        PyRef::steal(std::exchange(context_->needs_input_grad, needs.release()));
    former_.requires_grad = std::exchange(context_->requires_grad, is_recorded);
    former_.is_released = std::exchange(context_->is_released, false);
    former_.saved = std::exchange(parts.saved, {});
    former_.node = std::exchange(parts.node, weak_intrusive_ptr<autograd::Node>(node_));
  }

  // After an error, ctx is that of the earlier call again if the graph of that one lives.
  void restore() {
    outputs_.clear();
    node_.reset();
    ContextParts& parts = *context_->parts;
    if (former_.node.expired() || !parts.node.expired()) return;
    forget_marks();
    std::swap(parts.saved, former_.saved);
    std::swap(parts.node, former_.node);
    context_->requires_grad = former_.requires_grad;
    context_->is_released = former_.is_released;
    PyRef dropped = PyRef::steal(
        std::exchange(context_->needs_input_grad, former_.needs_input_grad.release()));
  }

  void process() {
    autograd::ForwardMarks marks;
    for (const TensorPtr& input : inputs_) {
      if (input) marks.inputs.push_back(input.get());
    }
    marks.dirty = marked(state_, context_->dirty_tensors, "dirty_tensors");
    // forward may have written it by other means than operations of the core.
    for (const TensorImpl* tensor : marks.dirty) tensor->note_write();
    marks.non_differentiable = marked(state_, context_->non_differentiable, "non_differentiable");
    autograd::process_outputs(node_, marks, outputs_);
    written_ = std::move(marks.dirty);
  }

  bool is_output(const TensorImpl* tensor) const {
    return std::any_of(outputs_.begin(), outputs_.end(),
                       [&](const TensorPtr& output) { return output.get() == tensor; });
  }

  // Throws PythonErrorSet if forward saves what is no tensor.
  void check_saved() const {
    PyRef tuple = tuple_left(context_->to_save, "to_save");
    for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(tuple.get()); i++) {
      PyObject* object = PyTuple_GET_ITEM(tuple.get(), i);
      if (object != Py_None) (void)checked_tensor(state_, object, "save_for_backward");
    }
  }

  void save() {
    PyRef tuple = tuple_left(context_->to_save, "to_save");
    std::vector<SavedVariable> saved;
    for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(tuple.get()); i++) {
      PyObject* object = PyTuple_GET_ITEM(tuple.get(), i);
      if (object == Py_None) {
        saved.emplace_back();
        continue;
      }
      TensorImpl& tensor = checked_tensor(state_, object, "save_for_backward");
      bool is_written_view = tensor.base() && written_.contains(&tensor);
      saved.emplace_back(tensor, is_output(&tensor), is_written_view);
    }
    for (const SavedVariable& one : saved) one.trace_owned(context_);
    context_->parts->saved = std::move(saved);
  }

  void forget_marks() {
    for (PyObject** left : {&context_->to_save, &context_->dirty_tensors,
                            &context_->non_differentiable, &context_->saved_for_forward}) {
      PyRef former = PyRef::steal(std::exchange(*left, nullptr));
    }
  }

  PyRef wrapped(PyObject* results) const {
    PyRef tuple = PyRef::steal(checked(PyTuple_New(PyTuple_GET_SIZE(results))));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(results); i++) {
      const TensorPtr& output = outputs_[static_cast<size_t>(i)];
      PyObject* one =
          output ? wrap_tensor(state_, output) : Py_NewRef(PyTuple_GET_ITEM(results, i));
      PyTuple_SET_ITEM(tuple.get(), i, one);
    }
    return tuple;
  }

  ModuleState* state_;
  FunctionContext* context_;
  std::vector<TensorPtr> inputs_, outputs_;  // null for what is no tensor
  std::unordered_set<const TensorImpl*> written_;
  intrusive_ptr<PyNode> node_;
  Former former_;
};

}  // namespace

PyRef run_forward(ModuleState* state, FunctionContext* context, PyObject* args,
                  const std::function<PyRef(PyObject* args)>& forward) {
  return Call(state, context, args).run(args, forward);
}

}  // namespace slotcore::python
