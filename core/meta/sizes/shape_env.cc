// Decisions and guards. A guard is kept as it was asked; what it says of a single symbol narrows
// the range of that symbol, so that later relations need no guard.

#include "core/meta/sizes/shape_env.h"

#include <algorithm>
#include <stdexcept>

namespace slotcore::meta {
namespace {

using Kind = Relation::Kind;

bool is_line(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char letter) { return letter >= ' ' && letter <= '~'; });
}

}  // namespace

const char* name_of(SizeKind kind) noexcept {
  switch (kind) {
    case SizeKind::kStatic: return "static";
    case SizeKind::kDuck: return "duck";
    case SizeKind::kDynamic: return "dynamic";
  }
  __builtin_unreachable();
}

bool Relation::holds(int64_t value) const noexcept {
  switch (kind) {
    case Kind::kEqual: return value == 0;
    case Kind::kNotEqual: return value != 0;
    case Kind::kNotNegative: return value >= 0;
  }
  __builtin_unreachable();
}

Relation Relation::negated() const {
  switch (kind) {
    case Kind::kEqual: return {expr, Kind::kNotEqual};
    case Kind::kNotEqual: return {expr, Kind::kEqual};
    case Kind::kNotNegative: return {SizeExpr(-1) - expr, Kind::kNotNegative};
  }
  __builtin_unreachable();
}

std::string Relation::text() const {
  switch (kind) {
    case Kind::kEqual: return expr.text() + " == 0";
    case Kind::kNotEqual: return expr.text() + " != 0";
    case Kind::kNotNegative: return expr.text() + " >= 0";
  }
  __builtin_unreachable();
}

SizeExpr ShapeEnv::add_input(int64_t hint, std::string source, SizeKind kind) {
  if (is_frozen_) throw FrozenError("the shape environment is frozen: no new input");
  if (hint < 0) throw std::invalid_argument("a size cannot be negative");
  if (!is_line(source)) throw std::invalid_argument("a source is a line of printable ASCII");
  if (inputs_.size() == kInputsMax) throw std::length_error("too many inputs");
  for (const Input& input : inputs_) {
    if (input.source == source) throw std::invalid_argument("the source is there already");
  }
  bool is_duck = kind == SizeKind::kDuck;
  SizeExpr expr(hint);
  if (kind == SizeKind::kDynamic || (is_duck && hint > 1)) {
    auto same = std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& symbol) {
      return is_duck && symbol.is_duck && symbol.hint == hint;
    });
    bool is_new = same == symbols_.end();
    expr = SizeExpr::symbol(static_cast<uint32_t>(same - symbols_.begin()));
    Range range{is_duck ? 2 : 0, Range::kNoLimit};
    inputs_.reserve(inputs_.size() + 1);
    if (is_new) symbols_.push_back({hint, range, range, is_duck});
  }
  inputs_.push_back({std::move(source), expr});
  return expr;
}

std::vector<int64_t> ShapeEnv::hints() const {
  std::vector<int64_t> values;
  for (const Symbol& symbol : symbols_) values.push_back(symbol.hint);
  return values;
}

int64_t ShapeEnv::hint(const SizeExpr& expr) const { return expr.evaluate(hints()); }

std::optional<bool> ShapeEnv::implied(const Relation& relation) const {
  if (relation.expr.is_constant()) return relation.holds(relation.expr.constant());
  if (std::find(guards_.begin(), guards_.end(), relation) != guards_.end()) return true;
  auto range = range_of(relation.expr, symbols_);
  if (!range) return std::nullopt;
  bool has_zero = range->has(0), is_one = range->low == range->high;
  switch (relation.kind) {
    case Kind::kEqual:
      if (!has_zero || is_one) return has_zero;
      return std::nullopt;
    case Kind::kNotEqual:
      if (!has_zero || is_one) return !has_zero;
      return std::nullopt;
    case Kind::kNotNegative:
      if (range->low >= 0) return true;
      if (range->high < 0) return false;
      return std::nullopt;
  }
  __builtin_unreachable();
}

bool ShapeEnv::decide(const Relation& relation) {
  int64_t value = hint(relation.expr);
  bool result = relation.holds(value);
  if (implied(relation)) return result;
  Relation guard = result ? relation : relation.negated();
  if (implied(guard)) return result;
  if (is_frozen_)
    throw FrozenError("the shape environment is frozen, and this needs a guard: " + guard.text());
  add_guard(guard);
  return result;
}

int64_t ShapeEnv::specialize(const SizeExpr& expr) {
  int64_t value = hint(expr);
  (void)decide({expr - SizeExpr(value), Kind::kEqual});
  return value;
}

void ShapeEnv::add_guard(const Relation& guard) {
  if (guards_.size() == kGuardsMax) throw std::length_error("too many guards");
  guards_.push_back(guard);
  refine(guard);
}

// Guards of one symbol with the coefficient 1 or -1: c + s >= 0, c - s >= 0, c + s == 0.
void ShapeEnv::refine(const Relation& guard) {
  const auto& terms = guard.expr.terms();
  if (terms.empty() || terms.size() > 2 || guard.kind == Kind::kNotEqual) return;
  if (terms.size() == 2 && !terms[1].atoms.empty()) return;
  const auto& [atoms, coefficient] = terms[0];
  bool is_symbol = atoms.size() == 1 && atoms[0].kind == SizeExpr::Atom::Kind::kSymbol;
  if (!is_symbol || (coefficient != 1 && coefficient != -1)) return;
  // The hint fits the guard, so the bound is no further away than a size is large.
  int64_t constant = guard.expr.constant();
  if (constant == INT64_MIN) return;
  Range& range = symbols_[atoms[0].symbol].range;
  int64_t bound = coefficient == 1 ? -constant : constant;
  bool is_equal = guard.kind == Kind::kEqual;
  if (is_equal || coefficient == 1) range.low = std::max(range.low, bound);
  if (is_equal || coefficient == -1) range.high = std::min(range.high, bound);
}

bool ShapeEnv::check(std::span<const int64_t> sizes) const {
  if (sizes.size() != inputs_.size())
    throw std::invalid_argument("one size is needed for each input");
  std::vector<std::optional<int64_t>> bound(symbols_.size());
  for (size_t i = 0; i < sizes.size(); i++) {
    const SizeExpr& expr = inputs_[i].expr;
    if (expr.is_constant()) {
      if (sizes[i] != expr.constant()) return false;
      continue;
    }
    uint32_t symbol = expr.symbol_count() - 1;  // an input is one symbol
    if (!symbols_[symbol].first.has(sizes[i])) return false;
    if (bound[symbol] && *bound[symbol] != sizes[i]) return false;
    bound[symbol] = sizes[i];
  }
  std::vector<int64_t> values;
  for (const auto& value : bound) values.push_back(*value);  // each symbol is of an input
  return std::all_of(guards_.begin(), guards_.end(), [&](const Relation& guard) {
    try {
      return guard.holds(guard.expr.evaluate(values));
    } catch (const std::overflow_error&) {
      return false;  // the program would raise, which the example did not
    } catch (const std::domain_error&) {
      return false;
    }
  });
}

}  // namespace slotcore::meta
