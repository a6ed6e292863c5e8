// The order of inputs is that in which check() takes them.

#include "core/meta/sizes/input_symbols.h"

namespace slotcore::meta {

InputSymbols::InputSymbols(EnvPtr env, SizeKind kind, bool are_known)
    : env_(std::move(env)), kind_(kind), are_known_(are_known) {}

SymLayout InputSymbols::layout(const Layout& layout, const std::string& tensor) {
  std::lock_guard lock(env_->mutex);
  size_t rank = layout.sizes.size();
  std::vector<SizeExpr> sizes, strides(rank);
  for (size_t i = 0; i < rank; i++) {
    std::string source = tensor + ".size(" + std::to_string(i) + ")";
    sizes.push_back(add(layout.sizes[i], std::move(source), kind_));
  }
  // The strides of a contiguous tensor of these sizes.
  SizeExpr expected(1);
  for (size_t i = rank; i-- > 0;) {
    strides[i] = expected;
    expected = expected * (kind_ == SizeKind::kDuck ? sizes[i] : sizes[i].max(SizeExpr(1)));
  }
  SymLayout result;
  for (size_t i = 0; i < rank; i++) {
    std::string source = tensor + ".stride()[" + std::to_string(i) + "]";
    strides[i] = add_expected(layout.strides[i], strides[i], std::move(source));
    result.sizes.push_back(sym_int_of(env_, env_->env.simplify(sizes[i])));
    result.strides.push_back(sym_int_of(env_, env_->env.simplify(strides[i])));
  }
  result.offset =
      sym_int_of(env_, add_expected(layout.offset, std::nullopt, tensor + ".storage_offset()"));
  savepoint_.note();
  return result;
}

SymInt InputSymbols::nbytes(int64_t nbytes, const std::optional<SymInt>& whole,
                            const std::string& storage) {
  std::lock_guard lock(env_->mutex);
  std::optional<SizeExpr> expected;
  if (whole) expected = expr_of(env_, *whole);
  SizeExpr expr = add_expected(nbytes, expected, storage + ".nbytes()");
  savepoint_.note();
  return sym_int_of(env_, std::move(expr));
}

SizeExpr InputSymbols::add(int64_t value, std::string source, SizeKind kind) {
  if (!are_known_) return env_->env.add_input(value, std::move(source), kind);
  for (const ShapeEnv::Input& input : env_->env.inputs()) {
    if (input.source == source) return input.expr;
  }
  throw std::invalid_argument("the environment has no input " + source);
}

SizeExpr InputSymbols::add_expected(int64_t value, const std::optional<SizeExpr>& expected,
                                    std::string source) {
  bool is_expected = expected && env_->env.hint(*expected) == value;
  bool is_static = is_expected ? expected->is_constant() : value <= 1;
  if (is_static) return add(value, std::move(source), SizeKind::kStatic);
  SizeExpr symbol = add(value, std::move(source), SizeKind::kDynamic);
  if (is_expected) (void)env_->env.decide({symbol - *expected, Relation::Kind::kEqual});
  return env_->env.simplify(symbol);
}

}  // namespace slotcore::meta
