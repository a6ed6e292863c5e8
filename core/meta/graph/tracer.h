// Tracing: runs a function on fakes, and keeps what it does to them as a Graph. The tracer is a
// mode that appends: operations of the thread in a FakeMode of the trace, in order.
//
// A graph is complete or an error: an operand that is no value, an operation that has no node, and
// a write that was not seen raise UntraceableError. Gradients are not recorded, and a graph says
// what its function does in no_grad mode.
#pragma once

#include <functional>
#include <unordered_map>

#include "core/autograd/grad_mode.h"
#include "core/meta/fake_mode.h"
#include "core/meta/graph/graph.h"

namespace slotcore::meta {

// The names of inputs in sources, and in the text.
std::vector<std::string> input_names(size_t count);

class Tracing final : public impl::OperationTracer {
 public:
  // Of a function that takes tensors of this description, whose sizes are of this kind.
  Tracing(std::shared_ptr<const Document> inputs, SizeKind kind);
  // Of a graph again, in an environment that knows its symbols already.
  explicit Tracing(const Graph& graph);

  const intrusive_ptr<FakeMode>& mode() const noexcept { return mode_; }
  // How to convert the inputs, by the mode.
  Symbols symbols() const;
  // Runs `body` with the fakes of the inputs as values.
  void run(const std::vector<TensorPtr>& fakes, const std::function<void()>& body);
  // The graph, when the function has returned these. Throws UntraceableError.
  Graph finished(const std::vector<TensorPtr>& results, bool returns_one);

  void before(const OpCall& call) override;
  void after(const OpCall& call, const OpResult& result) override;

 private:
  struct Value {
    TensorPtr tensor;  // kept, so that no other one gets its address
    size_t number;
  };

  Tracing(std::shared_ptr<const Document> inputs, SizeKind kind, ShapeEnv env, bool is_known);
  size_t value_of(const TensorImpl& tensor) const;
  void add_value(const TensorPtr& tensor);
  void check_version(const TensorImpl& tensor) const;
  void note_version(const TensorImpl& tensor);
  std::optional<uint32_t> new_symbol_of(const TensorImpl& rows) const;
  void check_symbols(const ShapeEnv& env) const;

  const EnvPtr env_ = std::make_shared<SharedEnv>();
  const intrusive_ptr<FakeMode> mode_ = make_intrusive<FakeMode>(env_);
  const bool is_known_;
  Graph graph_;
  size_t value_count_ = 0;
  std::unordered_map<const TensorImpl*, Value> values_;
  std::unordered_map<const VersionCounter*, uint32_t> versions_;  // of values, as they should be
};

// The same graph, traced in its own environment: symbols are bound again, and none is new (M5).
// `convert` gives the fakes of the inputs.
Graph retraced(const Graph& graph,
               const std::function<std::vector<TensorPtr>(const Tracing&)>& convert);

// Runs the nodes on tensors of this description, and returns the results. Throws runtime_error for
// tensors that do not pass, AssertionFailed for a number that fails an assertion, and what nodes
// throw.
std::vector<TensorPtr> run(const Graph& graph, const Document& description,
                           std::vector<TensorPtr> inputs);

}  // namespace slotcore::meta
