// One backward on the thread that calls it.

#include "core/autograd/engine/engine.h"

#include <stdexcept>

#include "core/autograd/engine/validate.h"
#include "core/autograd/grad_mode.h"
#include "core/c10/check.h"

namespace slotcore::autograd {
namespace {

// The node that all roots follow. It passes their gradients on.
class GraphRoot final : public Node {
 public:
  explicit GraphRoot(const std::vector<Edge>& roots) { set_next_edges(roots); }
  std::string name() const override { return "GraphRoot"; }
  Gradients apply(Gradients gradients) override { return gradients; }
};

Gradients with_pre_hooks(const NodeHooks& hooks, Gradients inputs) {
  auto run = [&](const std::pair<uint32_t, std::shared_ptr<FunctionPreHook>>& hook) {
    TensorPtr& gradient = inputs.at(hook.first);
    if (!gradient) return;
    Gradients result = (*hook.second)({gradient});
    SLOTCORE_CHECK(result.size() == 1);
    gradient = std::move(result[0]);
  };
  for (const auto& hook : hooks.of_tensors) run(hook);
  for (const auto& hook : hooks.retaining) run(hook);
  return inputs;
}

// Runs one node and delivers what it returns.
void evaluate(GraphTask& task, NodeTask ready) {
  Node& node = *ready.node;
  // The copy keeps each hook alive that this run calls, whatever the hooks remove (A3c).
  const NodeHooks hooks = node.hooks();
  Gradients inputs = with_pre_hooks(hooks, std::move(ready.inputs));
  for (const GraphTask::Capture& capture : task.captures_of(&node))
    task.set_captured(capture.place, inputs.at(capture.input_nr));
  if (!task.needs(&node)) return;
  for (const auto& hook : hooks.before) {
    size_t count = inputs.size();
    inputs = (*hook)(std::move(inputs));
    if (inputs.size() != count)
      throw std::runtime_error("a hook of " + node.name() + " changed the number of gradients");
  }
  // Only hooks that run afterwards need the inputs, and a node may take over what nobody else owns.
  Gradients kept = hooks.after.empty() ? Gradients{} : inputs;
  Gradients outputs = node.apply(std::move(inputs));
  for (const auto& hook : hooks.after) outputs = (*hook)(std::move(outputs), kept);
  validate_outputs(node, outputs);
  if (!task.options().keep_graph) node.release_variables();
  std::span<const Edge> edges = node.next_edges();
  for (size_t i = 0; i < edges.size(); i++) {
    if (edges[i].node) task.deliver(edges[i], std::move(outputs[i]));
  }
}

}  // namespace

Gradients run_backward(const std::vector<Edge>& roots, Gradients gradients, BackwardOptions options,
                       const std::vector<Edge>& outputs) {
  SLOTCORE_CHECK(roots.size() == gradients.size());
  AutoGradMode mode(options.create_graph);
  for (size_t i = 0; i < roots.size(); i++) {
    if (!roots[i].node) throw std::runtime_error("a tensor does not require grad");
    gradients[i] = validated(roots[i].node->inputs()[roots[i].input_nr], std::move(gradients[i]));
  }
  GraphTask task(options);
  intrusive_ptr<Node> root = make_intrusive<GraphRoot>(roots);
  task.count_dependencies(root);
  if (!outputs.empty()) task.restrict_to(outputs, root);
  task.push({root, std::move(gradients)});
  while (!task.is_done()) evaluate(task, task.pop());
  return task.take_captured();
}

}  // namespace slotcore::autograd
