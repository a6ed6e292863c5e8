// The order of inputs is that in which check() takes them.

#include "core/meta/sizes/input_symbols.h"

namespace slotcore::meta {

namespace {

InputSymbols::Name source_of(const InputSymbols::Name& name, const std::string& rest) {
  return {name.text + rest, name.is_known};
}

}  // namespace

InputSymbols::InputSymbols(EnvPtr env, SizeKind kind) : env_(std::move(env)), kind_(kind) {}

InputSymbols::Name InputSymbols::named(const std::string& key, std::string new_name) {
  std::lock_guard lock(env_->mutex);
  auto former = env_->names.find(key);
  if (former != env_->names.end()) return {former->second, true};
  names_.emplace(key, new_name);
  return {std::move(new_name), false};
}

void InputSymbols::keep() {
  std::lock_guard lock(env_->mutex);
  env_->names.reserve(env_->names.size() + names_.size());
  env_->names.merge(names_);
  savepoint_.keep();
}

SymLayout InputSymbols::layout(const Layout& layout, const Name& tensor) {
  EnvSavepoint::Adding adding(savepoint_);
  size_t rank = layout.sizes.size();
  std::vector<SizeExpr> sizes, strides(rank);
  for (size_t i = 0; i < rank; i++) {
    Name source = source_of(tensor, ".size(" + std::to_string(i) + ")");
    sizes.push_back(add(layout.sizes[i], source, kind_));
  }
  // The strides of a contiguous tensor of these sizes.
  SizeExpr expected(1);
  for (size_t i = rank; i-- > 0;) {
    strides[i] = expected;
    expected = expected * (kind_ == SizeKind::kDuck ? sizes[i] : sizes[i].max(SizeExpr(1)));
  }
  SymLayout result;
  for (size_t i = 0; i < rank; i++) {
    Name source = source_of(tensor, ".stride()[" + std::to_string(i) + "]");
    strides[i] = add_expected(layout.strides[i], strides[i], source);
    result.sizes.push_back(sym_int_of(env_, env_->env.simplify(sizes[i])));
    result.strides.push_back(sym_int_of(env_, env_->env.simplify(strides[i])));
  }
  result.offset = sym_int_of(
      env_, add_expected(layout.offset, std::nullopt, source_of(tensor, ".storage_offset()")));
  return result;
}

SymInt InputSymbols::nbytes(int64_t nbytes, const std::optional<SymInt>& whole,
                            const Name& storage) {
  EnvSavepoint::Adding adding(savepoint_);
  std::optional<SizeExpr> expected;
  if (whole) expected = expr_of(env_, *whole);
  SizeExpr expr = add_expected(nbytes, expected, source_of(storage, ".nbytes()"));
  return sym_int_of(env_, std::move(expr));
}

SizeExpr InputSymbols::add(int64_t value, const Name& source, SizeKind kind) {
  if (!source.is_known) return env_->env.add_input(value, source.text, kind);
  for (const ShapeEnv::Input& input : env_->env.inputs()) {
    if (input.source == source.text) return input.expr;
  }
  throw std::invalid_argument("the environment has no input " + source.text);
}

SizeExpr InputSymbols::add_expected(int64_t value, const std::optional<SizeExpr>& expected,
                                    const Name& source) {
  bool is_expected = expected && env_->env.hint(*expected) == value;
  bool is_static = is_expected ? expected->is_constant() : value <= 1;
  if (is_static) return add(value, source, SizeKind::kStatic);
  SizeExpr symbol = add(value, source, SizeKind::kDynamic);
  if (is_expected) (void)env_->env.decide({symbol - *expected, Relation::Kind::kEqual});
  return env_->env.simplify(symbol);
}

}  // namespace slotcore::meta
