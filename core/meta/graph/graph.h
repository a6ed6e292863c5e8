// Graph: the operations of a function, in order, with the environment of its sizes. It holds no
// tensor: inputs are descriptions, and attributes are expressions of the sizes of inputs.
#pragma once

#include <memory>

#include "core/c10/tensor/operation.h"
#include "core/meta/meta_tensor_desc.h"
#include "core/meta/sizes/shape_env.h"

namespace slotcore::meta {

// Values are tensors, numbered: the inputs, and then the results of nodes in order.
struct Graph {
  using Operand = std::variant<size_t, Scalar>;

  struct Node {
    Op op;
    std::vector<Operand> operands = {};
    std::vector<SizeExpr> numbers = {};
    std::optional<ScalarType> type = {};
    // Absent if the node writes its first operand, or reads a number.
    std::optional<size_t> result = {};
    // The unbacked symbol that stands for the number that the node reads, or for the number of
    // rows of its result.
    std::optional<uint32_t> binds = {};
  };

  std::shared_ptr<const Document> inputs;  // the roots are those of the example
  SizeKind kind = SizeKind::kStatic;       // of the sizes of inputs
  ShapeEnv env;                            // all that was decided, and the inputs by their sources
  std::vector<Node> nodes;
  std::vector<size_t> results;
  bool returns_one = false;  // else a tuple

  size_t input_count() const noexcept { return inputs->roots.size(); }
};

// A function of Python that does what the graph does: it asserts the guards, and has a line for
// each node. Equal for traces that did the same (M5).
std::string text(const Graph& graph);

// The last number from data in an expression: when it is there, the expression has a value.
std::optional<uint32_t> last_unbacked(const SizeExpr& expr);

// The inputs that a conversion of the whole document makes, in the order of Conversion.
std::vector<int64_t> numbers_of_inputs(const Document& document);

// Whether tensors of this description pass: they differ from the example in sizes alone, and the
// sizes pass the guards.
bool passes(const Graph& graph, const Document& inputs);

}  // namespace slotcore::meta
