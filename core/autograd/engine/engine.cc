// The call of backward: roots, dependencies, and which thread runs it.

#include "core/autograd/engine/engine.h"

#include <memory>
#include <stdexcept>
#include <system_error>

#include "core/autograd/current_device.h"
#include "core/autograd/engine/run_task.h"
#include "core/autograd/engine/validate.h"
#include "core/autograd/grad_mode.h"
#include "core/c10/check.h"
#include "core/c10/impl/operation_tracer_tls.h"

namespace slotcore::autograd {
namespace {

// The node that all roots follow. It passes their gradients on.
class GraphRoot final : public Node {
 public:
  explicit GraphRoot(const std::vector<Edge>& roots) : Node(0, kNoDevice) { set_next_edges(roots); }
  std::string name() const override { return "GraphRoot"; }
  Gradients apply(Gradients gradients) override { return gradients; }
};

// Nested backwards use the stack of a thread, which fits so many frames of CPython's.
constexpr int kBackwardsPerThreadMax = 60;
// A hook that starts its own backward again would start threads without end.
constexpr int kDepthMax = 1000;

void run(GraphTask& graph) {
  if (EngineThread::current().backwards >= kBackwardsPerThreadMax) {
    try {
      return run_on_new_thread(graph);
    } catch (const std::system_error&) {
      // Its first task may be in a queue by now, so it must run.
    }
  }
  run_until_complete(graph);
}

}  // namespace

Gradients run_backward(const std::vector<Edge>& roots, Gradients gradients, BackwardOptions options,
                       const std::vector<Edge>& outputs) {
  impl::check_untraced("a backward");
  SLOTCORE_CHECK(roots.size() == gradients.size());
  for (size_t i = 0; i < roots.size(); i++) {
    if (!roots[i].node) throw std::runtime_error("a tensor does not require grad");
    AutoGradMode mode(options.create_graph);
    gradients[i] = validated(roots[i].node->inputs()[roots[i].input_nr], std::move(gradients[i]));
  }
  const EngineThread& thread = EngineThread::current();
  if (thread.depth >= kDepthMax) throw std::runtime_error("backwards are nested too deeply");
  intrusive_ptr<Node> root = make_intrusive<GraphRoot>(roots);
  // Not on the stack: AddressSanitizer sees a use after its end, by a thread of a device, only in
  // the heap.
  auto graph = std::make_unique<GraphTask>(options, thread.depth + 1, thread.device);
  graph->count_dependencies(root);
  if (!outputs.empty()) graph->restrict_to(outputs, root);
  graph->push({graph.get(), root, std::move(gradients)});
  run(*graph);
  return graph->result();
}

}  // namespace slotcore::autograd
