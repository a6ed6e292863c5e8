// A graph runs in one loop: on tensors, with numbers, or on fakes, with the symbols that it has.

#include "core/c10/tensor/announce.h"
#include "core/c10/tensor/elements.h"
#include "core/meta/graph/op_rules.h"
#include "core/meta/graph/tracer.h"
#include "core/meta/nonzero.h"
#include "core/meta/text/desc_write.h"

namespace slotcore::meta {
namespace {

// What symbols stand for in one run.
class SymbolValues {
 public:
  virtual ~SymbolValues() = default;
  virtual SymInt value_of(const SizeExpr& expr) = 0;
  // Run the nodes that bind a symbol.
  virtual void item(uint32_t symbol, TensorImpl& tensor) = 0;
  virtual TensorPtr nonzero(uint32_t symbol, TensorImpl& tensor) = 0;
};

class ActualValues final : public SymbolValues {
 public:
  ActualValues(const ShapeEnv& env, const std::vector<int64_t>& inputs)
      : env_(env), values_(env.symbol_count()) {
    for (size_t i = 0; i < inputs.size(); i++) {
      const SizeExpr& expr = env.inputs()[i].expr;
      if (!expr.is_constant()) values_[expr.symbol_count() - 1] = inputs[i];
    }
  }

  SymInt value_of(const SizeExpr& expr) override { return expr.evaluate(values_); }

  void item(uint32_t symbol, TensorImpl& tensor) override {
    if (tensor.numel() != 1) throw std::runtime_error("a tensor of many elements is not a number");
    bind(symbol, Elements(tensor).read<int64_t>(0));
  }
  TensorPtr nonzero(uint32_t symbol, TensorImpl& tensor) override {
    TensorPtr rows = meta::nonzero(tensor);
    bind(symbol, rows->sizes()[0]);
    return rows;
  }

 private:
  // An assertion is checked when the last number in it is there.
  void bind(uint32_t symbol, int64_t value) {
    values_[symbol] = value;
    for (const auto& [relation, is_assertion] : env_.constraints()) {
      if (!is_assertion || last_unbacked(relation.expr) != symbol) continue;
      if (!relation.holds(relation.expr.evaluate(values_)))
        throw AssertionFailed("this is false: " + relation.text());
    }
  }

  const ShapeEnv& env_;
  std::vector<int64_t> values_;
};

class SymbolicValues final : public SymbolValues {
 public:
  explicit SymbolicValues(EnvPtr env) : env_(std::move(env)) {}

  SymInt value_of(const SizeExpr& expr) override { return sym_int_of(env_, expr); }
  void item(uint32_t symbol, TensorImpl& tensor) override {
    (void)tensor_operation(Op::kItem, tensor, [&] {
      announce({&tensor});
      return sym_int_of(env_, SizeExpr::unbacked(symbol));
    });
  }
  TensorPtr nonzero(uint32_t symbol, TensorImpl& tensor) override {
    return meta::nonzero(tensor, env_, symbol);
  }

 private:
  const EnvPtr env_;
};

// The inputs are the first values; the results of nodes follow.
std::vector<TensorPtr> run_nodes(const Graph& graph, std::vector<TensorPtr> values,
                                 SymbolValues& symbols) {
  for (const Graph::Node& node : graph.nodes) {
    OpArguments arguments;
    for (const Graph::Operand& operand : node.operands) {
      if (const auto* value = std::get_if<size_t>(&operand); value != nullptr) {
        arguments.operands.emplace_back(*values[*value]);
      } else {
        arguments.operands.emplace_back(std::get<Scalar>(operand));
      }
    }
    for (const SizeExpr& number : node.numbers)
      arguments.numbers.push_back(symbols.value_of(number));
    arguments.type = node.type;
    TensorPtr result;
    if (node.binds && node.result) {
      result = symbols.nonzero(*node.binds, arguments.tensor());
    } else if (node.binds) {
      symbols.item(*node.binds, arguments.tensor());
    } else {
      result = rule_of(node.op).run(arguments);
    }
    if (node.result) values.push_back(std::move(result));
  }
  std::vector<TensorPtr> results;
  for (size_t value : graph.results) results.push_back(values[value]);
  return results;
}

// All of a description but for sizes and versions, as text.
std::string structure_of(const Document& document) {
  Document plain = document;
  for (MetaStorageDesc& row : plain.storages) row.nbytes = {};
  for (MetaTensorDesc& row : plain.tensors) {
    std::fill(row.size.begin(), row.size.end(), 0);
    std::fill(row.stride.begin(), row.stride.end(), 0);
    row.storage_offset = {};
    row.version = 0;
  }
  return dumps(plain);
}

}  // namespace

std::vector<int64_t> numbers_of_inputs(const Document& document) {
  std::vector<int64_t> numbers;
  for (const MetaTensorDesc& row : document.tensors) {
    numbers.insert(numbers.end(), row.size.begin(), row.size.end());
    numbers.insert(numbers.end(), row.stride.begin(), row.stride.end());
    numbers.push_back(row.storage_offset.value);
  }
  std::vector<bool> is_seen(document.storages.size());
  for (const MetaTensorDesc& row : document.tensors) {
    auto storage = static_cast<size_t>(row.storage.place);
    if (!is_seen[storage]) numbers.push_back(document.storages[storage].nbytes.value);
    is_seen[storage] = true;
  }
  return numbers;
}

bool passes(const Graph& graph, const Document& inputs) {
  if (structure_of(inputs) != structure_of(*graph.inputs)) return false;
  return graph.env.check(numbers_of_inputs(inputs));
}

std::vector<TensorPtr> run(const Graph& graph, const Document& description,
                           std::vector<TensorPtr> inputs) {
  if (!passes(graph, description))
    throw std::runtime_error("the tensors do not pass the guards of the graph");
  autograd::AutoGradMode no_grad(false);
  ActualValues symbols(graph.env, numbers_of_inputs(description));
  return run_nodes(graph, std::move(inputs), symbols);
}

Graph retraced(const Graph& graph,
               const std::function<std::vector<TensorPtr>(const Tracing&)>& convert) {
  Tracing tracing(graph);
  std::vector<TensorPtr> fakes = convert(tracing), results;
  SymbolicValues symbols(tracing.symbols().env);
  tracing.run(fakes, [&] { results = run_nodes(graph, fakes, symbols); });
  return tracing.finished(results, graph.returns_one);
}

}  // namespace slotcore::meta
