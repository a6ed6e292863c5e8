// One task: hooks, the node, and the delivery of its gradients. No lock is held meanwhile.

#include "core/autograd/engine/run_task.h"

#include <stdexcept>
#include <thread>

#include "core/autograd/current_device.h"
#include "core/autograd/engine/validate.h"
#include "core/autograd/grad_mode.h"
#include "core/c10/check.h"

namespace slotcore::autograd {
namespace {

// The hooks of the node as they are now: the run calls those that it removes, and not those that it
// adds (A3c).
NodeHooks hooks_of_run(const Node& node) {
  NodeHooks hooks = node.hooks();
  auto fix = [](auto& hook) {
    if (auto fixed = hook->of_run()) hook = std::move(fixed);
  };
  for (auto& [_, hook] : hooks.of_tensors) fix(hook);
  for (auto& hook : hooks.before) fix(hook);
  for (auto& hook : hooks.after) fix(hook);
  return hooks;
}

Gradients with_pre_hooks(const NodeHooks& hooks, Gradients inputs) {
  auto run = [&](const std::pair<uint32_t, std::shared_ptr<FunctionPreHook>>& hook) {
    TensorPtr& gradient = inputs.at(hook.first);
    Gradients result = (*hook.second)({gradient});
    SLOTCORE_CHECK(result.size() == 1);
    gradient = std::move(result[0]);
  };
  for (const auto& hook : hooks.of_tensors) run(hook);
  for (const auto& hook : hooks.retaining) run(hook);
  return inputs;
}

bool is_any(const Gradients& gradients) {
  for (const TensorPtr& gradient : gradients) {
    if (gradient) return true;
  }
  return false;
}

// Runs one node and delivers what it returns.
void evaluate(GraphTask& graph, Node& node, Gradients inputs) {
  const NodeHooks hooks = hooks_of_run(node);
  inputs = with_pre_hooks(hooks, std::move(inputs));
  check_inputs(node, inputs);
  for (const GraphTask::Capture& capture : graph.captures_of(&node))
    graph.set_captured(capture.place, inputs.at(capture.input_nr));
  if (!graph.needs(&node)) return;
  for (const auto& hook : hooks.before) {
    size_t count = inputs.size();
    inputs = (*hook)(std::move(inputs));
    if (inputs.size() != count)
      throw std::runtime_error("a hook of " + node.name() + " changed the number of gradients");
  }
  if (!hooks.before.empty()) check_inputs(node, inputs);
  // Only hooks that run afterwards need the inputs, and a node may take over what nobody else owns.
  Gradients kept = hooks.after.empty() ? Gradients{} : inputs;
  Gradients outputs = node.apply(std::move(inputs));
  for (const auto& hook : hooks.after) outputs = (*hook)(std::move(outputs), kept);
  validate_outputs(node, outputs);
  if (!graph.options().keep_graph && !node.release_variables() && is_any(outputs)) {
    throw std::runtime_error(
        "trying to backward through the graph a second time, on another thread; pass"
        " retain_graph=True");
  }
  std::span<const Edge> edges = node.next_edges();
  for (size_t i = 0; i < edges.size(); i++) {
    if (edges[i].node) graph.deliver(edges[i], std::move(outputs[i]));
  }
}

// Restores the engine's state of this thread at the end of a scope.
class ThreadGuard {
 public:
  ThreadGuard() noexcept : former_(EngineThread::current()) {}
  ~ThreadGuard() { EngineThread::current() = former_; }
  ThreadGuard(const ThreadGuard&) = delete;
  ThreadGuard& operator=(const ThreadGuard&) = delete;

 private:
  EngineThread former_;
};

// Runs a task unless its backward has failed. The thread's state is as before afterwards.
void run(NodeTask task) {
  GraphTask& graph = *task.graph;
  if (!graph.has_failed()) {
    ThreadGuard thread;
    AutoGradMode mode(graph.options().create_graph);
    DeviceGuard device(task.node->device());
    EngineThread::current().depth = graph.depth();
    EngineThread::current().frees_graph = !graph.options().keep_graph;
    try {
      evaluate(graph, *task.node, std::move(task.inputs));
    } catch (...) {
      graph.fail(std::current_exception());
    }
  }
  // Before the end: nothing of the graph is left when the owner returns (A5c).
  task.inputs.clear();
  task.node.reset();
  graph.end_task();
}

}  // namespace

EngineThread& EngineThread::current() noexcept {
  static constinit thread_local EngineThread thread{kNoDevice, 0, 0};
  return thread;
}

void run_until_complete(GraphTask& graph) {
  ThreadGuard thread;
  EngineThread::current().backwards++;
  while (std::optional<NodeTask> task = graph.next()) run(std::move(*task));
}

void run_on_new_thread(GraphTask& graph) {
  const int device = EngineThread::current().device;
  std::thread([&graph, device] {
    EngineThread::current().device = device;
    run_until_complete(graph);
  }).join();
}

void serve_device(int device, TaskQueue& queue) noexcept {
  EngineThread::current().device = device;
  while (std::optional<NodeTask> task = queue.pop()) run(std::move(*task));
}

}  // namespace slotcore::autograd
