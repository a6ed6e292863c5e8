// A graph as Python: the names of symbols, the guards, and a line for each node in the words of the
// op table.

#include <charconv>
#include <cmath>

#include "core/meta/graph/op_rules.h"
#include "core/meta/graph/tracer.h"

namespace slotcore::meta {
namespace {

constexpr const char* kIndent = "    ";

std::string text_of(double number) {
  if (std::isnan(number)) return "float('nan')";
  if (std::isinf(number)) return number < 0 ? "float('-inf')" : "float('inf')";
  char digits[32];
  std::string result(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
  bool is_float = result.find_first_of(".e") != std::string::npos;
  return is_float ? result : result + ".0";
}

std::string text_of(const Scalar& scalar) {
  if (const auto* flag = std::get_if<bool>(&scalar)) return *flag ? "True" : "False";
  if (const auto* integer = std::get_if<int64_t>(&scalar)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&scalar)) return text_of(*number);
  auto pair = std::get<std::complex<double>>(scalar);
  return "complex(" + text_of(pair.real()) + ", " + text_of(pair.imag()) + ")";
}

std::string text_of(size_t value) { return "t" + std::to_string(value); }

std::string text_of(const Graph::Operand& operand) {
  return std::visit([](const auto& one) { return text_of(one); }, operand);
}

std::string text_of(ScalarType type) { return std::string("T.") + name_of(type); }

std::string joined(const std::vector<std::string>& parts) {
  std::string result;
  for (const std::string& part : parts) result += (result.empty() ? "" : ", ") + part;
  return result;
}

std::string tuple_of(const std::vector<std::string>& parts) {
  return "(" + joined(parts) + (parts.size() == 1 ? ",)" : ")");
}

// The numbers from `begin` to `end`.
std::vector<std::string> numbers_of(const Graph::Node& node, size_t begin, size_t end) {
  std::vector<std::string> texts;
  for (size_t i = begin; i < end; i++) texts.push_back(node.numbers[i].text());
  return texts;
}

std::string method_call(const Graph::Node& node, const std::string& name) {
  std::vector<std::string> arguments = numbers_of(node, 0, node.numbers.size());
  // A call without sizes is an error, and a size of () is not.
  if (arguments.empty() && (node.op == Op::kView || node.op == Op::kExpand)) arguments = {"()"};
  for (size_t i = 1; i < node.operands.size(); i++) arguments.push_back(text_of(node.operands[i]));
  if (node.type) arguments.push_back(text_of(*node.type));
  return text_of(node.operands[0]) + "." + name + "(" + joined(arguments) + ")";
}

std::string slice_of(const Graph::Node& node) {
  int64_t start = node.numbers[0].constant(), length = node.numbers[1].constant(),
          step = node.numbers[2].constant();
  return "[" + std::to_string(start) + ":" + std::to_string(start + length * step) + ":" +
         std::to_string(step) + "]";
}

std::string call_of(const Graph::Node& node) {
  using Form = OpRule::Form;
  const OpRule& rule = rule_of(node.op);
  auto operand = [&](size_t place) { return text_of(node.operands[place]); };
  auto operated = [&] { return operand(0) + " " + rule.symbol + " " + operand(1); };
  size_t count = node.numbers.size();
  switch (rule.form) {
    case Form::kMethod: return method_call(node, rule.name);
    case Form::kFunction: return std::string("T.") + rule.name + "(" + operand(0) + ")";
    case Form::kFactory:
      return std::string("T.") + rule.name + "(" + tuple_of(numbers_of(node, 0, count)) +
             ", dtype=" + text_of(*node.type) + ")";
    case Form::kOperator: return operated();
    case Form::kArithmetic:
      return std::holds_alternative<Scalar>(node.operands[0]) ? operated()
                                                              : method_call(node, rule.name);
    case Form::kAttribute: return operand(0) + "." + rule.name;
    case Form::kAll: return operand(0) + "[...]";
    case Form::kSlice: return operand(0) + slice_of(node);
    case Form::kStrided:
      return operand(0) + ".as_strided(" + tuple_of(numbers_of(node, 0, count / 2)) + ", " +
             tuple_of(numbers_of(node, count / 2, count - 1)) + ", " +
             node.numbers[count - 1].text() + ")";
  }
  __builtin_unreachable();
}

// An input is a symbol that is new, a symbol that an earlier one has, or an int.
std::vector<std::string> lines_of_inputs(const ShapeEnv& env) {
  std::vector<std::string> lines;
  std::vector<bool> is_bound(env.symbol_count());
  for (const auto& [source, expr] : env.inputs()) {
    uint32_t symbol = expr.is_constant() ? 0 : expr.symbol_count() - 1;
    if (expr.is_constant() || is_bound[symbol]) {
      lines.push_back("assert " + source + " == " + expr.text());
      continue;
    }
    is_bound[symbol] = true;
    lines.push_back(expr.text() + " = " + source);
    if (int64_t low = env.first_range(symbol).low; low > 0)
      lines.push_back("assert " + expr.text() + " >= " + std::to_string(low));
  }
  for (const auto& [relation, is_assertion] : env.constraints()) {
    if (!is_assertion) lines.push_back("assert " + relation.text());
  }
  return lines;
}

std::vector<std::string> lines_of(const Graph& graph, const Graph::Node& node) {
  std::vector<std::string> lines;
  std::string value = call_of(node);
  if (node.result) {
    lines.push_back(text_of(*node.result) + " = " + value);
    value = text_of(*node.result) + ".size(0)";
  }
  if (!node.binds) return node.result ? lines : std::vector{value};
  lines.push_back(graph.env.symbol(*node.binds).text() + " = " + value);
  for (const auto& [relation, is_assertion] : graph.env.constraints()) {
    if (is_assertion && last_unbacked(relation.expr) == node.binds)
      lines.push_back("assert " + relation.text());
  }
  return lines;
}

}  // namespace

std::optional<uint32_t> last_unbacked(const SizeExpr& expr) {
  std::optional<uint32_t> last;
  expr.any_symbol([&](const SizeExpr::Atom& atom) {
    if (atom.kind == SizeExpr::Atom::Kind::kUnbacked)
      last = std::max(last.value_or(0), atom.symbol);
    return false;
  });
  return last;
}

std::string text(const Graph& graph) {
  std::string result = "def graph(" + joined(input_names(graph.input_count())) + "):\n";
  auto add = [&](const std::string& line) { result += kIndent + line + "\n"; };
  for (const std::string& line : lines_of_inputs(graph.env)) add(line);
  for (const Graph::Node& node : graph.nodes) {
    for (const std::string& line : lines_of(graph, node)) add(line);
  }
  std::vector<std::string> results;
  for (size_t value : graph.results) results.push_back(text_of(value));
  add("return " + (graph.returns_one ? results.at(0) : tuple_of(results)));
  return result;
}

}  // namespace slotcore::meta
