// What the tracer appends, and what it refuses.

#include "core/meta/graph/tracer.h"

#include "core/meta/graph/op_rules.h"

namespace slotcore::meta {

std::vector<std::string> input_names(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; i++) names.push_back("t" + std::to_string(i));
  return names;
}

Tracing::Tracing(std::shared_ptr<const Document> inputs, SizeKind kind)
    : Tracing(std::move(inputs), kind, {}, false) {}

Tracing::Tracing(const Graph& graph) : Tracing(graph.inputs, graph.kind, graph.env, true) {}

Tracing::Tracing(std::shared_ptr<const Document> inputs, SizeKind kind, ShapeEnv env, bool is_known)
    : is_known_(is_known) {
  env_->env = std::move(env);
  graph_.inputs = std::move(inputs);
  graph_.kind = kind;
}

Symbols Tracing::symbols() const {
  return {env_, graph_.kind, input_names(graph_.input_count()), is_known_};
}

void Tracing::run(const std::vector<TensorPtr>& fakes, const std::function<void()>& body) {
  impl::check_untraced("another trace");
  for (const TensorPtr& fake : fakes) add_value(fake);
  struct ModeScope {
    explicit ModeScope(impl::ModePtr mode) {
      impl::TorchDispatchModeTLS::push(std::move(mode));
      count = impl::TorchDispatchModeTLS::size();
    }
    ~ModeScope() {
      while (impl::TorchDispatchModeTLS::size() >= count) impl::TorchDispatchModeTLS::pop().reset();
    }
    size_t count;
  } mode_scope(mode_);
  mode_count = mode_scope.count;
  autograd::AutoGradMode no_grad(false);
  impl::OperationTracerScope scope(this);
  body();
}

size_t Tracing::value_of(const TensorImpl& tensor) const {
  auto found = values_.find(&tensor);
  if (found == values_.end())
    throw UntraceableError("a tensor is neither an input nor the result of a node");
  return found->second.number;
}

void Tracing::add_value(const TensorPtr& tensor) {
  // A tensor that was given twice has one value, and two names.
  values_.emplace(tensor.get(), Value{tensor, value_count_++});
  note_version(*tensor);
}

void Tracing::check_version(const TensorImpl& tensor) const {
  if (versions_.at(&tensor.version()) != tensor.version().value())
    throw UntraceableError("a tensor was written by what has no node");
}

void Tracing::note_version(const TensorImpl& tensor) {
  versions_[&tensor.version()] = tensor.version().value();
}

void Tracing::before(const OpCall& call) {
  if (autograd::GradMode::is_enabled())
    throw UntraceableError("an operation records gradients, as in enable_grad()");
  if (impl::TorchDispatchModeTLS::innermost() != mode_.get())
    throw UntraceableError("an operation is in another mode than that of the trace");
  for (const OpCall::Operand& operand : call.operands) {
    const auto* tensor = std::get_if<TensorPtr>(&operand);
    if (tensor == nullptr) continue;
    (void)value_of(**tensor);
    check_version(**tensor);
  }
}

void Tracing::after(const OpCall& call, const OpResult& result) {
  Graph::Node node{call.op};
  node.type = call.type;
  for (const OpCall::Operand& operand : call.operands) {
    if (const auto* tensor = std::get_if<TensorPtr>(&operand); tensor != nullptr) {
      node.operands.emplace_back(value_of(**tensor));
    } else {
      node.operands.emplace_back(std::get<Scalar>(operand));
    }
  }
  for (const SymInt& number : call.numbers) node.numbers.push_back(expr_of(env_, number));
  if (const auto* number = std::get_if<SymInt>(&result); number != nullptr) {
    node.binds = expr_of(env_, *number).symbol_count() - 1;
  } else if (const auto& tensor = std::get<TensorPtr>(result); rule_of(call.op).writes) {
    note_version(*tensor);
  } else {
    node.result = value_count_;
    add_value(tensor);
    if (call.op == Op::kNonzero) node.binds = new_symbol_of(*tensor);
  }
  graph_.nodes.push_back(std::move(node));
}

// The number of rows of a result, unless a node has given it before.
std::optional<uint32_t> Tracing::new_symbol_of(const TensorImpl& rows) const {
  SizeExpr count = expr_of(env_, rows.sym_layout().sizes[0]);
  if (!count.has_unbacked()) return std::nullopt;
  uint32_t symbol = count.symbol_count() - 1;
  bool is_bound = std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                              [&](const Graph::Node& node) { return node.binds == symbol; });
  return is_bound ? std::nullopt : std::optional(symbol);
}

Graph Tracing::finished(const std::vector<TensorPtr>& results, bool returns_one) {
  for (const auto& [tensor, value] : values_) check_version(*tensor);
  for (const TensorPtr& result : results) graph_.results.push_back(value_of(*result));
  graph_.returns_one = returns_one;
  std::lock_guard lock(env_->mutex);
  check_symbols(env_->env);
  graph_.env = env_->env;
  for (Graph::Node& node : graph_.nodes) {
    for (SizeExpr& number : node.numbers) number = graph_.env.simplify(std::move(number));
  }
  return std::move(graph_);
}

// Each unbacked symbol is bound by one node, and no input is new.
void Tracing::check_symbols(const ShapeEnv& env) const {
  std::vector<uint32_t> bound;
  for (const Graph::Node& node : graph_.nodes) {
    if (node.binds) bound.push_back(*node.binds);
  }
  size_t next = 0;
  for (uint32_t i = 0; i < env.symbol_count(); i++) {
    if (!env.symbol(i).has_unbacked()) continue;
    if (next == bound.size() || bound[next++] != i)
      throw UntraceableError("no node gives the number of " + env.symbol(i).text());
  }
  if (next != bound.size()) throw UntraceableError("two nodes give one number");
  if (env.inputs().size() != numbers_of_inputs(*graph_.inputs).size())
    throw UntraceableError("a size is that of no input");
}

}  // namespace slotcore::meta
