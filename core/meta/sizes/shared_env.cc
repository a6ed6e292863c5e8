// Expressions as SymNodes, and the decisions that they ask for.

#include "core/meta/sizes/shared_env.h"

namespace slotcore::meta {
namespace {

class SizeNode final : public SymNode {
 public:
  SizeNode(EnvPtr env, SizeExpr expr) : env(std::move(env)), expr(std::move(expr)) {}

  SymInt compute(Operation operation, const SymInt& a, const SymInt& b) const override {
    SizeExpr left = expr_of(env, a), right = expr_of(env, b);
    std::lock_guard lock(env->mutex);
    return sym_int_of(env, env->env.simplify(computed(operation, left, right)));
  }

  bool decide(SymNode::Comparison comparison, const SymInt& a, const SymInt& b) const override {
    bool is_equality = comparison == SymNode::Comparison::kEqual;
    Relation relation =
        relation_of(env, a, is_equality ? meta::Comparison::kEqual : meta::Comparison::kLess, b);
    std::lock_guard lock(env->mutex);
    return env->env.decide(relation);
  }

  int64_t specialize() const override {
    std::lock_guard lock(env->mutex);
    return env->env.specialize(expr);
  }

  bool is_data_dependent() const override {
    std::lock_guard lock(env->mutex);
    return env->env.simplify(expr).has_unbacked();
  }

  std::string text() const override { return expr.text(); }

  const EnvPtr env;
  const SizeExpr expr;

 private:
  SizeExpr computed(Operation operation, const SizeExpr& a, const SizeExpr& b) const {
    switch (operation) {
      case Operation::kAdd: return a + b;
      case Operation::kSubtract: return a - b;
      case Operation::kMultiply: return a * b;
      case Operation::kFloorDivide: check_divisor(b); return a.floor_div(b);
      case Operation::kRemainder: check_divisor(b); return a.mod(b);
      case Operation::kMaximum: return a.max(b);
      case Operation::kMinimum: return a.min(b);
    }
    __builtin_unreachable();
  }

  // That the divisor is not 0 is a decision like any other.
  void check_divisor(const SizeExpr& divisor) const {
    if (!env->env.decide({divisor, Relation::Kind::kNotEqual}))
      throw std::domain_error("a size is divided by 0");
  }
};

const SizeNode& node_of(const SymInt& value) noexcept {
  return *static_cast<const SizeNode*>(value.node());
}

}  // namespace

SymInt sym_int_of(const EnvPtr& env, SizeExpr expr) {
  if (expr.is_constant()) return expr.constant();
  return SymInt(std::make_shared<const SizeNode>(env, std::move(expr)));
}

const EnvPtr& env_of(const SymInt& value) noexcept { return node_of(value).env; }

SizeExpr expr_of(const EnvPtr& env, const SymInt& value) {
  if (!value.is_symbolic()) return SizeExpr(value.value());
  if (env_of(value) != env) throw std::invalid_argument("the sizes belong to two environments");
  return node_of(value).expr;
}

// a < b is b - a - 1 >= 0, and so on.
Relation relation_of(const EnvPtr& env, const SymInt& a, Comparison comparison, const SymInt& b) {
  SizeExpr left = expr_of(env, a), right = expr_of(env, b);
  switch (comparison) {
    case Comparison::kLess: return {right - left - SizeExpr(1), Relation::Kind::kNotNegative};
    case Comparison::kLessEqual: return {right - left, Relation::Kind::kNotNegative};
    case Comparison::kEqual: return {left - right, Relation::Kind::kEqual};
    case Comparison::kNotEqual: return {left - right, Relation::Kind::kNotEqual};
  }
  __builtin_unreachable();
}

}  // namespace slotcore::meta
